import { describe, expect, it } from 'vitest'
import {
  generateBackupCodes,
  replaceBackupCodes,
  spendBackupCode,
} from '../../../src/domain/factors/code-verification.js'
import { anyLine } from '../../support/hash-line.js'
import { factorRig } from './factor-rig.js'

const userId = '01940000-0000-7000-8000-00000000000a'

async function withCodes(count = 10) {
  const { ctx, hasher } = factorRig()
  const spend = (code: string, of = userId) => spendBackupCode(ctx, of, code, anyLine)
  async function renew(mayReplace = async () => true): Promise<readonly string[]> {
    const fresh = await generateBackupCodes(ctx, count, anyLine)
    await replaceBackupCodes(ctx, userId, fresh, mayReplace)
    return fresh.codes
  }
  const codes = await renew()
  const [first = '', second = ''] = codes
  return { ...ctx, hasher, spend, renew, codes, first, second }
}

describe('backup codes', () => {
  it('are as many as asked for, and each works once', async () => {
    const { spend, codes } = await withCodes(20)
    expect(codes).toHaveLength(20)
    for (const [index, code] of codes.entries()) {
      expect(await spend(code)).toBe(19 - index)
      expect(await spend(code)).toBeNull()
    }
  })

  it('are stored as argon2id hashes', async () => {
    const { collections, codes } = await withCodes()
    const text = JSON.stringify(await collections.backupCodes.get(userId))
    expect(text.match(/\$argon2id\$/g)).toHaveLength(10)
    for (const code of codes) expect(text).not.toContain(code.slice(1, 5))
  })

  it('of sixteen uses of one code at once, one succeeds', async () => {
    const { spend, codes } = await withCodes()
    for (const code of codes) {
      const uses = Array.from({ length: 16 }, () => spend(code))
      const left = (await Promise.all(uses)).filter((remaining) => remaining !== null)
      expect(left).toHaveLength(1)
    }
  })

  it('all of them at once are all accepted', async () => {
    const { spend, codes } = await withCodes(20)
    const left = await Promise.all(codes.map((code) => spend(code)))
    expect(left.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    )
  })

  it('a new set voids the old one, a code being spent meanwhile included', async () => {
    const { spend, renew, first, second, collections } = await withCodes()
    await renew()
    expect(await spend(first)).toBeNull()
    // A code of the old set whose hash was read before it was replaced.
    const held = await collections.backupCodes.get(userId)
    const [spent] = await Promise.all([spend(second), renew()])
    expect(spent).toBeNull()
    expect((await collections.backupCodes.get(userId))?.setId).not.toBe(held?.setId)
  })

  it('what a code grants before it is replaced is retired with it', async () => {
    const { spend, renew, first } = await withCodes()
    const log: (number | null | 'retired')[] = []
    await renew(async () => {
      log.push('retired')
      if (log.length === 1) log.push(await spend(first))
      return true
    })
    expect(log).toEqual(['retired', 9, 'retired'])
    expect(await spend(first)).toBeNull()
  })

  it('cost one hash, whatever is typed and whoever has none', async () => {
    const { spend, first, hasher } = await withCodes()
    const before = hasher.verified.length
    const typed = [first, '0ABCD-EFGHJ', 'WABCD-EFGHJ', 'nonsense', '']
    for (const code of typed) await spend(code)
    await spend(first, '01940000-0000-7000-8000-00000000000b')
    expect(hasher.verified).toHaveLength(before + typed.length + 1)
  })
})
