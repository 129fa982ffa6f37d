import type { Random } from '../ports/host.js'

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * A version 7 UUID (RFC 9562 §5.7): 48 bits of time, then 74 random bits. Ids sort by the
 * millisecond they were made in; within one millisecond their order is random. A name, never a
 * secret: the time in it is plain to see.
 *
 * @param now epoch milliseconds; throws a `RangeError` when they do not fit
 */
export function uuidv7(now: number, random: Random): string {
  if (!(now >= 0 && now < 2 ** 48)) throw new RangeError('uuidv7: the time is out of range')
  const bytes = Buffer.alloc(16)
  bytes.set(random.nameBytes?.(10) ?? random.bytes(10), 6)
  bytes.writeUIntBE(Math.floor(now), 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * Whether `text` is written the way UUIDs are written here: lower case with hyphens, of any
 * version. Other spellings of the same UUID are refused, because a store compares ids by code unit.
 */
export function isUuid(text: string): boolean {
  return canonical.test(text)
}
