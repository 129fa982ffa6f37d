/** Calls a provider, which is the host's: none of them may keep a request from being served. */
export function harmless(call: () => void): void {
  try {
    call()
  } catch {
    // A provider that fails has its own ways to say so.
  }
}
