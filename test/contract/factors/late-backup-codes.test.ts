import { expect, it } from 'vitest'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { codeOf, enrolled, textsOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, signedInPerson } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

eachSurface.describe('backup codes of an app, shown late', (surface) => {
  const base = `/v1/auth/${surface}`

  /** A host on which something happens right before the first such call of the store from then on. */
  async function interrupted(moment: string) {
    const late: (() => Promise<unknown>)[] = []
    const host = await openHost({
      ...withoutLimits,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          if (called === `${surface}_${moment}`) await late.pop()?.()
          return work()
        }),
    })
    return { host, late }
  }

  type Host = Awaited<ReturnType<typeof interrupted>>['host']

  async function codeFor(host: Host, bearer: string, { password }: Person): Promise<string> {
    const body = { currentPassword: password }
    const begun = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
    return codeOf(host, textOf(begun.json(), 'secret'))
  }

  it.each([
    // Of the request that confirms: whether the app is the first factor, before it is stored.
    ['backup_codes.get', '401 session_revoked'],
    ['backup_codes.insert', '401 invalid_mfa_code'],
  ])('are none where all factors were reset before %s', async (moment, refusal) => {
    const { host, late } = await interrupted(moment)
    const who = await signedInPerson(host, surface)
    const { bearer, id } = who
    const body = { code: await codeFor(host, bearer, who) }
    late.push(() => host.auth[surface].users.resetMfa(id))
    const reply = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
    expect([late, outcomeOf(reply)]).toEqual([[], refusal])
    const { totpFactors, backupCodes } = storedIn(host, surface)
    expect(await totpFactors.get(id)).toBeNull()
    expect(await backupCodes.get(id)).toBeNull()
  })

  it('do not replace those that the owner had made in the meantime', async () => {
    const { host, late } = await interrupted('backup_codes.insert')
    const owner = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { bearer } = owner
    const stepUp = () => on.stepUp(bearer, owner.authenticator)
    expect(outcomeOf(await stepUp())).toBe('200')
    const body = { code: await codeFor(host, bearer, owner) }
    const { backupCodes, totpFactors } = storedIn(host, surface)
    const meanwhile: Reply[] = []
    const made: unknown[] = []
    late.push(async () => {
      meanwhile.push(await stepUp())
      meanwhile.push(await host.send('DELETE', `${base}/mfa/totp`, { bearer }))
      meanwhile.push(await stepUp())
      meanwhile.push(await host.send('POST', `${base}/mfa/backup-codes`, { bearer }))
      made.push(await backupCodes.get(owner.id))
    })
    const reply = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
    expect(meanwhile.map(outcomeOf)).toEqual(['200', '204', '200', '201'])
    expect([late, outcomeOf(reply)]).toEqual([[], '401 invalid_mfa_code'])
    expect(await totpFactors.get(owner.id)).toBeNull()
    expect([await backupCodes.get(owner.id)]).toEqual(made)
  })

  it('are none where others were made meanwhile, and the app stands', async () => {
    const { host, late } = await interrupted('backup_codes.insert')
    const owner = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { bearer, id } = owner
    const stepUp = () => on.stepUp(bearer, owner.authenticator)
    expect(outcomeOf(await stepUp())).toBe('200')
    const body = { code: await codeFor(host, bearer, owner) }
    const { backupCodes } = storedIn(host, surface)
    const meanwhile: Reply[] = []
    late.push(async () => {
      meanwhile.push(await stepUp())
      meanwhile.push(await host.send('POST', `${base}/mfa/backup-codes`, { bearer }))
    })
    const reply = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
    expect(meanwhile.map(outcomeOf)).toEqual(['200', '201'])
    expect([late, outcomeOf(reply), reply.json()['backupCodes']]).toEqual([[], '200', []])
    const made = textsOf(meanwhile[1]?.json() ?? {}, 'backupCodes')
    const stored = await backupCodes.get(id)
    expect(stored?.hashes).toHaveLength(made.length)
    const shown = { method: 'backupCode', code: made[0] }
    expect(outcomeOf(await host.send('POST', `${base}/step-up`, { bearer, body: shown }))).toBe(
      '200',
    )
  })

  it('may fail: the owner was told of the app before', async () => {
    const { host, late } = await interrupted('backup_codes.insert')
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const body = { code: await codeFor(host, bearer, who) }
    host.mailer.clear()
    late.push(async () => {
      throw new Error('down')
    })
    const reply = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
    expect(reply.status).toBe(503)
    await host.auth.close()
    expect(eventsOf(host, 'mfa.changed')).toMatchObject([
      { change: 'totpEnrolled', ip: expect.any(String) },
    ])
    expect(host.mailer.sent.map(({ template }) => template)).toContain('mfaChanged')
  })

  /** Codes that a factor of before left behind. */
  async function withLeftCodes() {
    const { host, late } = await interrupted('backup_codes.take')
    const who = await signedInPerson(host, surface)
    const { backupCodes } = storedIn(host, surface)
    const stored = { userId: who.id, hashes: ['old'], usedMask: 0, setId: 'old', createdAt: 0 }
    await backupCodes.insert({ id: who.id, expiresAt: null, ...stored })
    const shown: Reply[] = []
    late.push(async () => {
      const { bearer } = who
      const body = { code: await codeFor(host, bearer, who) }
      shown.push(await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body }))
    })
    const left = async () => [(await backupCodes.get(who.id))?.hashes.length, shown.length]
    return { host, who, left }
  }

  it('are not taken by an enrolment that began before', async () => {
    const { host, who, left } = await withLeftCodes()
    await codeFor(host, who.bearer, who)
    expect(await left()).toEqual([10, 1])
  })

  it('are not taken by a passkey that is stored at the same time', async () => {
    const { host, who, left } = await withLeftCodes()
    const given = { bearer: who.bearer, currentPassword: who.password }
    await passkeysOn(host, surface).register(
      given,
      softwareAuthenticator({ origin: origins[surface] }),
    )
    expect(await left()).toEqual([10, 1])
  })

  it('are those of the app where nothing came in between', async () => {
    const host = await openHost()
    const { id, backupCodes } = await enrolled(host, surface)
    const set = await storedIn(host, surface).backupCodes.get(id)
    expect(set?.hashes).toHaveLength(backupCodes.length)
  })
})
