import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  betterAuthSecrets,
  decryptBetterAuth,
  hchacha20,
} from '../../../../src/cli/import/better-auth/better-auth-secrets.js'

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')

function encrypted(secret: string, text: string): string {
  const nonce = randomBytes(24)
  const key = hchacha20(createHash('sha256').update(secret).digest(), nonce.subarray(0, 16))
  const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
  const cipher = createCipheriv('chacha20-poly1305', key, short, { authTagLength: 16 })
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return Buffer.concat([nonce, sealed]).toString('hex')
}

describe('what better-auth encrypted', () => {
  it('is opened with the key of draft-irtf-cfrg-xchacha-03 §2.2.1', () => {
    const key = hex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f')
    const nonce = hex('000000090000004a0000000031415927')
    expect(Buffer.from(hchacha20(key, nonce)).toString('hex')).toBe(
      '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc',
    )
  })

  it('is null for another secret, one changed digit and every other text', () => {
    const text = encrypted('mine', 'the secret of an app')
    expect(decryptBetterAuth('mine', text)).toBe('the secret of an app')
    expect(decryptBetterAuth('yours', text)).toBeNull()
    for (const at of [0, 47, 48, text.length - 33, text.length - 1]) {
      const other = text[at] === '0' ? '1' : '0'
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      expect([at, decryptBetterAuth('mine', changed)]).toEqual([at, null])
    }
    for (const odd of ['', 'ab', 'zz'.repeat(60), text.slice(0, 80), text.slice(1), `${text}0`]) {
      expect(decryptBetterAuth('mine', odd)).toBeNull()
    }
  })

  it('names the version of its secret, or is of the one without', () => {
    const env = { BETTER_AUTH_SECRET: 'old', BETTER_AUTH_SECRETS: '2:new:er, 1:older' }
    const secrets = betterAuthSecrets({ env })
    const opened = (prefix: string, secret: string) =>
      secrets?.decrypt(prefix + encrypted(secret, 'x'))
    expect(opened('', 'old')).toBe('x')
    expect(opened('$ba$2$', 'new:er')).toBe('x')
    expect(opened('$ba$1$', 'older')).toBe('x')
    const wrong = [opened('$ba$3$', 'older'), opened('$ba$1$', 'old'), opened('', 'older')]
    expect(wrong).toEqual(wrong.map(() => null))
    expect(betterAuthSecrets({ env: {} })).toBeNull()
    expect(
      betterAuthSecrets({ env: { BETTER_AUTH_SECRETS: '1:a' } })?.decrypt(encrypted('', 'x')),
    ).toBeNull()
  })
})
