/** RFC 8949, as far as authenticators use it: integers, bytes, text, arrays and maps. */
export function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.byteLength), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  if (value instanceof Map) {
    const entries = [...value].flatMap(([key, member]) => [cbor(key), cbor(member)])
    return Buffer.concat([head(5, value.size), ...entries])
  }
  throw new TypeError('cbor: not a value of an authenticator')
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size])
  if (size < 256) return Buffer.from([(major << 5) | 24, size])
  const long = Buffer.alloc(3)
  long.writeUInt8((major << 5) | 25, 0)
  long.writeUInt16BE(size, 1)
  return long
}
