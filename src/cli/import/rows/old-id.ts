import { createHash } from 'node:crypto'

/** In lower case. */
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The id of the account: a UUID of the source as it is, in lower case, and for every other id a UUID (RFC 9562 §5.8)
 * that is the same in each run. `space` keeps equal ids of two sources apart.
 */
export function accountId(space: string, oldId: string): string {
  const id = oldId.toLowerCase()
  if (uuid.test(id)) return id
  const bytes = createHash('sha256')
    .update(JSON.stringify([space, oldId]))
    .digest()
    .subarray(0, 16)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
