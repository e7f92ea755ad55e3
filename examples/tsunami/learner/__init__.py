# SPDX-License-Identifier: BSD-3-Clause
"""The learners of the tsunami demo."""
