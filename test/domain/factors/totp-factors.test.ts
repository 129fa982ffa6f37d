import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { type ConfigKey, secretBox } from '../../../src/crypto/secret-box.js'
import { enrolledFactors } from '../../../src/domain/context/enrolled-factors.js'
import {
  generateBackupCodes,
  replaceBackupCodes,
} from '../../../src/domain/factors/code-verification.js'
import {
  beginTotp,
  confirmTotp,
  matchTotpOf,
  pendingTotp,
  spendTotp,
} from '../../../src/domain/factors/totp-factors.js'
import type { SurfaceContext } from '../../../src/domain/surface/surface-context.js'
import { oncePerWindow } from '../../../src/engine/limits.js'
import { newUser } from '../../../src/model/user.js'
import { anyLine } from '../../support/hash-line.js'
import { configKey } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { factorRig } from './factor-rig.js'

const userId = '01940000-0000-7000-8000-00000000000a'

const ada = { id: userId, email: 'ada@example.org', emailAsTyped: 'ada@example.org', name: 'Ada' }

async function confirm(ctx: SurfaceContext, id: string, code: string): Promise<boolean> {
  const pending = await pendingTotp(ctx, id)
  const matched = pending && (await matchTotpOf(ctx, pending.factor, code))
  const notice = { expiresAt: 1, enrollmentId: 'enrolment' }
  return matched !== null && confirmTotp(ctx, matched, notice)
}

async function enrolled(skew = 1) {
  const rig = factorRig({ totpSkewSteps: skew })
  const key = configKey('k1')
  const logger = recordingLogger()
  const memory = { ...rig.ctx.memory, isFirstBrokenSecret: oncePerWindow() }
  const ctx = { ...rig.ctx, logger, memory, secretBox: secretBox([key], rig.ctx.random) }
  const secret = await beginTotp(ctx, newUser(0, ada), 'session')
  const codeAt = (ms: number) => generateSync({ secret, epoch: Math.floor(ms / 1000) })
  const now = () => codeAt(ctx.clock.now())
  return { ...ctx, ctx, key, secret, codeAt, now, stored: ctx.collections.totpFactors }
}

describe('an authenticator app', () => {
  it('is no factor until a first code of it was shown, and that code is spent', async () => {
    const { ctx, now, clock } = await enrolled()
    expect(await spendTotp(ctx, userId, now())).toBe(false)
    expect(await confirm(ctx, userId, '000000')).toBe(false)
    const first = now()
    expect(await confirm(ctx, userId, first)).toBe(true)
    expect(await confirm(ctx, userId, first)).toBe(false)
    expect(await spendTotp(ctx, userId, first)).toBe(false)
    await clock.advance(30_000)
    expect(await spendTotp(ctx, userId, now())).toBe(true)
  })

  it('accepts every time step once, and none before the newest', async () => {
    const { ctx, codeAt, clock, now } = await enrolled()
    await confirm(ctx, userId, now())
    await clock.advance(90_000)
    const at = clock.now()
    expect(await spendTotp(ctx, userId, codeAt(at))).toBe(true)
    expect(await spendTotp(ctx, userId, codeAt(at))).toBe(false)
    expect(await spendTotp(ctx, userId, codeAt(at - 30_000))).toBe(false)
    expect(await spendTotp(ctx, userId, codeAt(at + 30_000))).toBe(true)
    await clock.advance(30_000)
    expect(await spendTotp(ctx, userId, now())).toBe(false)
  })

  it('of sixteen uses of one code at once, one succeeds', async () => {
    const { ctx, now, clock } = await enrolled()
    await confirm(ctx, userId, now())
    for (let round = 0; round < 25; round += 1) {
      await clock.advance(30_000)
      const code = now()
      const uses = Array.from({ length: 16 }, () => spendTotp(ctx, userId, code))
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1)
    }
  })

  it('keeps its secret encrypted, for this user and surface alone', async () => {
    const { stored, secret, secretBox, ctx, now } = await enrolled()
    const factor = await stored.get(userId)
    expect(JSON.stringify(factor)).not.toContain(secret)
    const place = { module: 'totp', environment: 'client', key: userId }
    expect(secretBox.open(factor?.sealedSecret ?? '', place)).toBe(secret)
    expect(
      secretBox.open(factor?.sealedSecret ?? '', { ...place, environment: 'operator' }),
    ).toBeNull()
    // Moved to another account's row it opens nothing there either.
    const other = '01940000-0000-7000-8000-00000000000b'
    await stored.insert({ ...(factor ?? never()), id: other, userId: other })
    await expect(confirm(ctx, other, now())).rejects.toMatchObject({
      code: 'service_unavailable',
    })
  })

  it('moves to the first key at the next code, after which the earlier one may go', async () => {
    const rig = await enrolled()
    await confirm(rig.ctx, userId, rig.now())
    const next = configKey('next')
    const spendWith = (keys: readonly ConfigKey[], code: string) =>
      spendTotp({ ...rig.ctx, secretBox: secretBox(keys, rig.random) }, userId, code)
    await rig.clock.advance(30_000)
    expect(await spendWith([next, rig.key], '000000')).toBe(false)
    await expect(spendWith([next], rig.now())).rejects.toThrow()
    expect(await spendWith([next, rig.key], rig.now())).toBe(true)
    await rig.clock.advance(30_000)
    expect(await spendWith([next], rig.now())).toBe(true)
  })

  it('tells the log once a minute of a key that is gone, and never the secret', async () => {
    const { ctx, secret, now, ...rig } = await enrolled()
    await confirm(ctx, userId, now())
    const without = { ...ctx, secretBox: secretBox([configKey('next')], rig.random) }
    const use = () => expect(spendTotp(without, userId, now())).rejects.toThrow()
    await use()
    await rig.clock.advance(59_999)
    await use()
    const line = {
      level: 'error',
      message:
        'the secret of an authenticator app cannot be decrypted: no key of configKeys with the id "k1" opens it',
      fields: { surface: 'client' },
    }
    expect(rig.logger.lines).toEqual([line])
    await rig.clock.advance(1)
    await use()
    expect(rig.logger.lines).toEqual([line, line])
    expect(JSON.stringify(rig.logger.lines)).not.toContain(secret)
  })

  it('a new one never revives the backup codes of one that was removed', async () => {
    const { ctx, now, collections, clock } = await enrolled()
    await confirm(ctx, userId, now())
    const codes = await generateBackupCodes(ctx, 2, anyLine)
    await replaceBackupCodes(ctx, userId, codes, async () => true)
    await collections.totpFactors.take(userId)
    const secret = await beginTotp(ctx, newUser(0, ada), 'session')
    // The process ends here, before there are new codes.
    await confirm(ctx, userId, generateSync({ secret, epoch: Math.floor(clock.now() / 1000) }))
    expect(await enrolledFactors(collections, userId)).toEqual({
      totp: true,
      passkeys: 0,
      verifyingPasskeys: 0,
      backupCodes: 0,
    })
  })

  it('starts over while it is pending, and refuses once it is enrolled', async () => {
    const { ctx, now, secret } = await enrolled()
    const old = now()
    const second = await beginTotp(ctx, newUser(0, ada), 'session')
    expect(second).not.toBe(secret)
    expect(await confirm(ctx, userId, old)).toBe(false)
    expect(await confirm(ctx, userId, generateSync({ secret: second, epoch: 1767225600 }))).toBe(
      true,
    )
    await expect(beginTotp(ctx, newUser(0, ada), 'session')).rejects.toMatchObject({
      code: 'factor_already_enrolled',
    })
  })
})

function never(): never {
  throw new Error('the factor was stored')
}
