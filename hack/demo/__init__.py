"""An example played on a real control plane, for somebody who has never seen Lockgate at work.

What has to happen is not written down here: `lockgate simulate` foretells it, and the live run is held to that.
"""
