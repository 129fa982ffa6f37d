import { createHash } from 'node:crypto'
import type { Argon2Params, PasswordHasher } from '../../src/ports/host.js'

/** Salted SHA-256 in the form of argon2id: at once, and on no other thread. Never for passwords of people. */
export function stubHasher(): PasswordHasher {
  function written(password: Uint8Array, params: Argon2Params, salt: string): string {
    const tag = createHash('sha256').update(salt).update(password).digest('base64')
    const { memoryCost, timeCost, parallelism } = params
    const costs = `m=${memoryCost},t=${timeCost},p=${parallelism}`
    return `$argon2id$v=19$${costs}$${salt}$${tag.replaceAll('=', '')}`
  }
  return {
    hash: async (password, params, salt) =>
      written(password, params, Buffer.from(salt).toString('base64').replaceAll('=', '')),
    async verify(phc, password) {
      const [, costs = '', salt = ''] = /v=19\$([^$]+)\$([^$]+)\$/.exec(phc) ?? []
      const [memoryCost = 0, timeCost = 0, parallelism = 0] = costs
        .split(',')
        .map((cost) => Number(cost.slice(2)))
      return written(password, { memoryCost, timeCost, parallelism }, salt) === phc
    },
  }
}
