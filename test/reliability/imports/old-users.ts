import { createCipheriv, pbkdf2Sync, scryptSync } from 'node:crypto'
import argon2 from 'argon2'
import type { Pool } from 'pg'
import { vectors } from '../../crypto/verifier-vectors.js'
import { hashOf } from '../../support/people/planted-hash.js'
import { firebaseScrypt } from './legacy-options.js'

/** A hash of another product, and the password that it is of. */
interface OldPassword {
  readonly password: string
  readonly hash: string
}

/** As many as there are vectors of each verifier. */
const perKind = 8

/** A few hashes of each kind: every row of its kind has one of them. bcrypt is that of Postgres. */
export async function oldPasswords(
  connections: Pool,
): Promise<Readonly<Record<string, readonly OldPassword[]>>> {
  const bcrypt = async (password: string) => {
    const made = "select crypt($1, gen_salt('bf', 4)) as hash"
    return (
      (await connections.query<{ readonly hash: string }>(made, [password])).rows[0]?.hash ?? ''
    )
  }
  const kinds: Readonly<
    Record<string, (password: string, salt: string) => string | Promise<string>>
  > = {
    bcrypt,
    scrypt: (password, salt) =>
      `scrypt$16$${salt}$8$1$${scryptSync(password, salt, 64, { N: 16 }).toString('base64')}`,
    pbkdf2: (password, salt) =>
      `pbkdf2_sha256$1000$${salt}$${pbkdf2Sync(password, salt, 1000, 32, 'sha256').toString('base64')}`,
    betterAuth,
    firebase,
    argon2i: (password) => hashOf(password, { type: argon2.argon2i, m: 64, t: 1 }),
  }
  const pools = Object.entries(kinds).map(async ([kind, hash]) => {
    const pool = Array.from({ length: perKind }, async (_, at) => {
      const password = `correct ${kind} battery ${at}`
      return {
        password,
        hash: await hash(password, Buffer.from(`salt ${at}`).toString('hex').padEnd(32, '0')),
      }
    })
    return [kind, await Promise.all(pool)] as const
  })
  return { ...Object.fromEntries(await Promise.all(pools)), ...vectors }
}

function betterAuth(password: string, salt: string): string {
  const key = scryptSync(password, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 })
  return `${salt}:${key.toString('hex')}`
}

function firebase(password: string, text: string): string {
  const { signerKey, saltSeparator, rounds, memCost } = firebaseScrypt
  const salt = Buffer.from(text)
  const salted = Buffer.concat([salt, Buffer.from(saltSeparator, 'base64')])
  const key = scryptSync(password, salted, 32, { N: 2 ** memCost, r: rounds, p: 1 })
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const tag = Buffer.concat([cipher.update(Buffer.from(signerKey, 'base64')), cipher.final()])
  return `$firebase-scrypt$${salt.toString('base64')}$${tag.toString('base64')}`
}
