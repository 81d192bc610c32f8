"""The tests below import `mindspore`: the alias makes that duograph."""

import duograph

duograph.install_as_mindspore()
