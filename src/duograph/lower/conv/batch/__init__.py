"""Convolutions of small images in batches: lanes of vectors are images."""
