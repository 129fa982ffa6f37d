import type { ExchangeBody, InTime } from '../../src/http/http-message.js'

/** Gives the parts of a body one after the other, as iterators and stream readers do. */
type NextPart = () => Promise<
  { readonly done?: false; readonly value: Uint8Array } | { readonly done: true }
>

/** A body that no parser has read, within the bounds of size and time. */
export async function gatheredBody(
  next: NextPart,
  maxBytes: number,
  inTime: InTime,
): Promise<ExchangeBody> {
  // One buffer that grows: a part of a byte would keep a hundred times as much.
  let bytes = Buffer.alloc(0)
  let size = 0
  for (;;) {
    const part = await inTime(next())
    if (part?.done) break
    const begin = size
    size += part?.value.byteLength ?? 0
    if (part === null || size > maxBytes) {
      void discard(next)
      return { kind: part === null ? 'tooSlow' : 'tooLarge' }
    }
    if (size > bytes.byteLength) {
      const larger = Buffer.alloc(Math.min(maxBytes, Math.max(size, 2 * bytes.byteLength)))
      larger.set(bytes)
      bytes = larger
    }
    bytes.set(part.value, begin)
  }
  return size === 0 ? { kind: 'empty' } : { kind: 'bytes', bytes: bytes.subarray(0, size) }
}

/** A connection with an unread rest takes no more requests, and cancelling would cut the reply off. */
async function discard(next: NextPart): Promise<void> {
  try {
    let part = await next()
    while (!part.done) part = await next()
  } catch {
    // The sender gave up, so the rest has no reader.
  }
}
