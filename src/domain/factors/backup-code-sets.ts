import type { HashLine } from '../../crypto/hash-gate.js'
import { randomToken } from '../../crypto/secrets.js'
import { formatBackupCode, parseBackupCode } from '../../engine/factors.js'
import type { BackupCodes } from '../../model/factors.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { remainingCodes } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'

export interface BackupCodeSets {
  /** New codes, which count for nothing until they replace others. May throw `server_busy`. */
  generate(count: number, line: HashLine): Promise<FreshCodes>
  /**
   * Replaces a user's codes by these if `mayReplace` resolves with true. `mayReplace` is called right before the write,
   * and again when an older code was used meanwhile; it may void what was granted on the older codes. Resolves with the
   * id of the new set; null where `mayReplace` resolved with false.
   */
  replace(
    userId: string,
    fresh: FreshCodes,
    mayReplace: () => Promise<boolean>,
  ): Promise<string | null>
  /**
   * Spends a code, at the cost of one hash whatever is typed. If several calls race with one code, one
   * succeeds. Gives the number of codes left; null for a wrong or used code.
   */
  spend(userId: string, typed: string, line: HashLine): Promise<number | null>
}

/** The codes to be shown, this once, and what is stored of them in the same order. */
export interface FreshCodes {
  readonly codes: readonly string[]
  readonly hashes: readonly string[]
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'random'> {
  readonly passwords: PasswordHashes
}

/** A code spent beside ours moves the mask; there are twenty codes at most. */
const tries = 24

export function createBackupCodeSets(deps: Deps): BackupCodeSets {
  const { random, passwords } = deps
  const { backupCodes } = deps.collections

  /** If several calls race with one code, one sets its bit; a set that was replaced meanwhile has no such code. */
  async function mark({ id, setId }: BackupCodes, index: number): Promise<number | null> {
    const attempt = async () => {
      const set = await backupCodes.get(id)
      if (set?.setId !== setId) return null
      const { usedMask } = set
      if ((usedMask & (1 << index)) !== 0) return null
      const used = { usedMask: usedMask | (1 << index) }
      const marked = await backupCodes.update(id, { setId, usedMask }, used)
      return marked === null ? conflict : remainingCodes(marked)
    }
    return retryOnConflict(tries, attempt, () => null)
  }

  return {
    async generate(count, line) {
      const codes = Array.from({ length: count }, (_, index) =>
        formatBackupCode(index, random.bytes(9)),
      )
      const hashes: string[] = []
      // One after the other: a set takes one place at the gate, not ten.
      for (const code of codes) hashes.push(await passwords.hash(code, line))
      return { codes, hashes }
    },

    async replace(userId, { hashes }, mayReplace) {
      const fields = {
        expiresAt: null,
        userId,
        hashes,
        usedMask: 0,
        setId: randomToken(random, 16),
        createdAt: deps.clock.now(),
      }
      return retryOnConflict(tries, async () => {
        const older = await backupCodes.get(userId)
        if (!(await mayReplace())) return null
        if (older === null) {
          return (await backupCodes.insert({ id: userId, ...fields })) ? fields.setId : conflict
        }
        const { setId, usedMask } = older
        const replaced = await backupCodes.update(userId, { setId, usedMask }, fields)
        return replaced === null ? conflict : fields.setId
      })
    },

    async spend(userId, typed, line) {
      const set = await backupCodes.get(userId)
      const parsed = parseBackupCode(typed)
      const hash = parsed === null ? undefined : set?.hashes[parsed.index]
      const verdict = await passwords.verify(hash ?? null, parsed?.code ?? '', line)
      if (verdict.ok && set !== null && parsed !== null) return mark(set, parsed.index)
      await passwords.evenOut(verdict)
      return null
    },
  }
}
