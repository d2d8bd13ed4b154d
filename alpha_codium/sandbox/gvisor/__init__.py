"""The gVisor backend: programs run on gVisor's kernel, by `runsc` alone, without a container engine."""
