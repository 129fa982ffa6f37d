import { requestBytes } from './http-client.js'

let asked = 0

/** An address that no request of this run said before, as a proxy would forward it. */
export function newAddress(): Readonly<Record<string, string>> {
  asked += 1
  return { 'x-forwarded-for': `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}` }
}

/** Addresses that come back: each in its turn, and the first again after the last. */
export function addressesInTurn(count: number): () => Readonly<Record<string, string>> {
  const addresses = Array.from({ length: count }, newAddress)
  let turn = 0
  return () => {
    const address = addresses[turn % count] ?? newAddress()
    turn += 1
    return address
  }
}

export interface TypedBody {
  readonly path: string
  readonly type: string
  readonly body: string
}

/** A POST of a body as it stands, from an address of its own unless one is given. */
export function postBytes({ path, type, body }: TypedBody, address = newAddress()): Buffer {
  const head = requestBytes('POST', path, {
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    ...address,
  })
  return Buffer.concat([head, Buffer.from(body)])
}
