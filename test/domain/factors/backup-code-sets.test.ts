import { describe, expect, it } from 'vitest'
import { createBackupCodeSets } from '../../../src/domain/factors/backup-code-sets.js'
import { anyLine } from '../../support/hash-line.js'
import { factorRig } from './factor-rig.js'

const userId = '01940000-0000-7000-8000-00000000000a'

async function withCodes(count = 10) {
  const rig = factorRig()
  const sets = createBackupCodeSets(rig)
  async function renew(mayReplace = async () => true): Promise<readonly string[]> {
    const fresh = await sets.generate(count, anyLine)
    await sets.replace(userId, fresh, mayReplace)
    return fresh.codes
  }
  const codes = await renew()
  const [first = '', second = ''] = codes
  return { ...rig, sets, renew, codes, first, second }
}

describe('backup codes', () => {
  it('are as many as asked for, and each works once', async () => {
    const { sets, codes } = await withCodes(20)
    expect(codes).toHaveLength(20)
    for (const [index, code] of codes.entries()) {
      expect(await sets.spend(userId, code, anyLine)).toBe(19 - index)
      expect(await sets.spend(userId, code, anyLine)).toBeNull()
    }
  })

  it('are stored as argon2id hashes', async () => {
    const { collections, codes } = await withCodes()
    const text = JSON.stringify(await collections.backupCodes.get(userId))
    expect(text.match(/\$argon2id\$/g)).toHaveLength(10)
    for (const code of codes) expect(text).not.toContain(code.slice(1, 5))
  })

  it('of sixteen uses of one code at once, one succeeds', async () => {
    const { sets, codes } = await withCodes()
    for (const code of codes) {
      const uses = Array.from({ length: 16 }, () => sets.spend(userId, code, anyLine))
      const left = (await Promise.all(uses)).filter((remaining) => remaining !== null)
      expect(left).toHaveLength(1)
    }
  })

  it('all of them at once are all accepted', async () => {
    const { sets, codes } = await withCodes(20)
    const left = await Promise.all(codes.map((code) => sets.spend(userId, code, anyLine)))
    expect(left.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    )
  })

  it('a new set voids the old one, a code being spent meanwhile included', async () => {
    const { sets, renew, first, second, collections } = await withCodes()
    await renew()
    expect(await sets.spend(userId, first, anyLine)).toBeNull()
    // A code of the old set whose hash was read before it was replaced.
    const held = await collections.backupCodes.get(userId)
    const [spent] = await Promise.all([sets.spend(userId, second, anyLine), renew()])
    expect(spent).toBeNull()
    expect((await collections.backupCodes.get(userId))?.setId).not.toBe(held?.setId)
  })

  it('what a code grants before it is replaced is retired with it', async () => {
    const { sets, renew, first } = await withCodes()
    const log: (number | null | 'retired')[] = []
    await renew(async () => {
      log.push('retired')
      if (log.length === 1) log.push(await sets.spend(userId, first, anyLine))
      return true
    })
    expect(log).toEqual(['retired', 9, 'retired'])
    expect(await sets.spend(userId, first, anyLine)).toBeNull()
  })

  it('cost one hash, whatever is typed and whoever has none', async () => {
    const { sets, first, hasher } = await withCodes()
    const before = hasher.verified.length
    const typed = [first, '0ABCD-EFGHJ', 'WABCD-EFGHJ', 'nonsense', '']
    for (const code of typed) await sets.spend(userId, code, anyLine)
    await sets.spend('01940000-0000-7000-8000-00000000000b', first, anyLine)
    expect(hasher.verified).toHaveLength(before + typed.length + 1)
  })
})
