import { sign as signBytes } from 'node:crypto'
import type { SignElsewhere, SigningInput } from '../../../src/crypto/key-ring.js'

/** Stands in for an HSM or a KMS: it holds a private key, and may be told to misbehave. */
export interface KeyModule {
  readonly sign: SignElsewhere
  /** What it was asked to sign. */
  readonly asked: readonly SigningInput[]
  behave(how: 'well' | 'failing' | 'wrong' | 'silent'): void
}

export function keyModule(privatePem: string, otherPem = privatePem): KeyModule {
  let how: Parameters<KeyModule['behave']>[0] = 'well'
  const asked: SigningInput[] = []
  return {
    asked,
    behave(next) {
      how = next
    },
    async sign(input) {
      asked.push(input)
      if (how === 'failing') throw new Error('the module is away')
      if (how === 'silent') return new Promise<never>(() => {})
      return signBytes('RSA-SHA256', input.data, how === 'wrong' ? otherPem : privatePem)
    },
  }
}
