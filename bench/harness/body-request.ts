import { requestBytes } from './http-client.js'

let asked = 0

/** An address that no request of this run said before, as a proxy would forward it. */
export function newAddress(): Readonly<Record<string, string>> {
  asked += 1
  return { 'x-forwarded-for': `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}` }
}

export interface TypedBody {
  readonly path: string
  readonly type: string
  readonly body: string
}

/** A POST of a body as it stands, from an address of its own. */
export function postBytes({ path, type, body }: TypedBody): Buffer {
  const head = requestBytes('POST', path, {
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    ...newAddress(),
  })
  return Buffer.concat([head, Buffer.from(body)])
}
