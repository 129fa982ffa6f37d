import argon2 from 'argon2'
import { parsePhc } from '../../../src/crypto/phc.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { storedIn, storedUser } from '../hosts/open-host.js'

/** The costs the library ships with. */
export const shipped = { m: 19_456, t: 2, p: 1 }

export interface Costs {
  readonly m?: number
  readonly t?: number
  readonly p?: number
  readonly type?: 0 | 1 | 2
  readonly version?: number
  /** Bytes. */
  readonly tag?: number
  /** Bytes. */
  readonly salt?: number
}

/** A hash of the costs the library ships with, but for what is given. */
export function hashOf(password: string, costs: Costs = {}): Promise<string> {
  return argon2.hash(Buffer.from(password.normalize('NFC')), {
    type: costs.type ?? argon2.argon2id,
    version: costs.version ?? 0x13,
    memoryCost: costs.m ?? shipped.m,
    timeCost: costs.t ?? shipped.t,
    parallelism: costs.p ?? shipped.p,
    hashLength: costs.tag ?? 32,
    salt: Buffer.alloc(costs.salt ?? 16, 7),
  })
}

/** Costs and form of a hash, without what is random in it; null when it is no argon2 hash. */
export function formOf(hash: string | null): unknown {
  const phc = parsePhc(hash ?? '')
  if (phc === null) return null
  const { variant, version, memoryCost: m, timeCost: t, parallelism: p, salt, tag } = phc
  return { variant, version, m, t, p, salt: salt.length, tag: tag.length }
}

/** A verified account whose password hash is this one. */
export async function plant(
  host: ContractHost,
  surface: Surface,
  email: string,
  passwordHash: string,
): Promise<void> {
  const { id } = await host.auth[surface].users.create({ email, emailVerified: true })
  const { users } = storedIn(host, surface)
  await users.update(id, { enabled: true }, { passwordHash, passwordChangedAt: 0 })
}

export async function storedHash(
  host: ContractHost,
  surface: Surface,
  email: string,
): Promise<string | null> {
  return (await storedUser(host, surface, email)).passwordHash
}
