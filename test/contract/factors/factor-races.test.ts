import { expect, it } from 'vitest'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { codeOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { signedInPerson } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

eachSurface.describe('a factor that is added while something else changes', (surface) => {
  const base = `/v1/auth/${surface}`
  /** What happens around one call. */
  interface Hook {
    readonly before?: () => Promise<void>
    readonly after?: () => Promise<void>
  }

  /** A host whose next call of that name is made inside of the hook, once. */
  async function hooked(options: HostOptions = {}) {
    const hooks = new Map<string, Hook>()
    const host = await openHost({
      ...options,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          const hook = hooks.get(called)
          hooks.delete(called)
          await hook?.before?.()
          const done = await work()
          await hook?.after?.()
          return done
        }),
    })
    return { host, at: (call: string, hook: Hook) => hooks.set(`${surface}_${call}`, hook) }
  }

  it('an app begun before a passkey was stored is none once the passkey stands', async () => {
    const { host, at } = await hooked()
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const body = { currentPassword: who.password }
    const begun: string[] = []
    at('passkeys.insert', {
      async before() {
        const app = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
        begun.push(textOf(app.json(), 'secret'))
      },
    })
    const given = { bearer, currentPassword: who.password }
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    expect(outcomeOf(await passkeysOn(host, surface).register(given, authenticator))).toBe('201')
    const [secret = ''] = begun
    const late = await host.send('POST', `${base}/mfa/totp/confirm`, {
      bearer,
      body: { code: codeOf(host, secret) },
    })
    expect(outcomeOf(late)).toBe('401 invalid_mfa_code')
    expect((await storedIn(host, surface).totpFactors.get(who.id))?.confirmed).toBe(false)
  })

  it('a passkey that is used before it has to be taken back is taken back all the same', async () => {
    const { host, at } = await hooked({ settings: { webauthnMode: 'passwordless' } })
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    const { passkeys } = storedIn(host, surface)
    at('passkeys.insert', {
      async before() {
        expect(await host.auth[surface].users.resetMfa(who.id)).toBe(true)
      },
      async after() {
        expect(outcomeOf(await on.login(authenticator))).toBe('401 invalid_credentials')
        const [stored] = await passkeys.find({ userId: who.id }, { limit: 1 })
        if (stored === undefined) throw new Error('no passkey is stored')
        const { id, counter } = stored
        const used = { counter: counter + 1, lastUsedAt: host.clock.now() }
        expect(await passkeys.update(id, { counter }, used)).not.toBeNull()
      },
    })
    const given = { bearer: who.bearer, currentPassword: who.password }
    expect(outcomeOf(await on.register(given, authenticator))).toBe('400 webauthn_failed')
    expect(await passkeys.find({ userId: who.id }, { limit: 9 })).toEqual([])
  })

  it.each(['totp_factors', 'passkeys'] as const)(
    'a factor that has to be taken back stays where it is another one by then: %s',
    async (table) => {
      const { host, at } = await hooked()
      const who = await signedInPerson(host, surface)
      const { bearer } = who
      const currentPassword = who.password
      const { totpFactors, passkeys } = storedIn(host, surface)
      const factorOf = async () =>
        table === 'passkeys'
          ? (await passkeys.find({ userId: who.id }, { limit: 1 }))[0]
          : totpFactors.get(who.id)
      at(table === 'passkeys' ? 'passkeys.insert' : 'totp_factors.update', {
        async after() {
          await storedIn(host, surface).users.update(who.id, { id: who.id }, { credentialEpoch: 9 })
          at(`${table}.take`, {
            async before() {
              const id = (await factorOf())?.id ?? ''
              const factors = table === 'passkeys' ? passkeys : totpFactors
              await factors.update(id, { id }, { enrollmentId: 'of another enrolment' })
            },
          })
        },
      })
      if (table === 'passkeys') {
        const authenticator = softwareAuthenticator({ origin: origins[surface] })
        const given = { bearer, currentPassword }
        const done = await passkeysOn(host, surface).register(given, authenticator)
        expect(outcomeOf(done)).toBe('400 webauthn_failed')
      } else {
        const app = await host.send('POST', `${base}/mfa/totp`, {
          bearer,
          body: { currentPassword },
        })
        const code = codeOf(host, textOf(app.json(), 'secret'))
        const body = { code }
        const done = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
        expect(outcomeOf(done)).toBe('401 invalid_mfa_code')
      }
      expect(await factorOf()).toMatchObject({ enrollmentId: 'of another enrolment' })
    },
  )

  it('codes that have to be taken back stay where they are others by then', async () => {
    const { host, at } = await hooked()
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const { users, backupCodes } = storedIn(host, surface)
    const body = { currentPassword: who.password }
    const app = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
    at('backup_codes.insert', {
      async after() {
        await users.update(who.id, { id: who.id }, { deviceEpoch: 99 })
        at('backup_codes.take', {
          async before() {
            await backupCodes.update(who.id, { id: who.id }, { setId: 'of newer codes' })
          },
        })
      },
    })
    const code = codeOf(host, textOf(app.json(), 'secret'))
    const done = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body: { code } })
    expect(outcomeOf(done)).toBe('200')
    expect(await backupCodes.get(who.id)).toMatchObject({ setId: 'of newer codes' })
  })

  it('a passkey of a request that was under way does not outlive a reset of all factors', async () => {
    const { host, at } = await hooked()
    const who = await signedInPerson(host, surface)
    // Who just signed in without a password is asked for none, and nothing is looked at after it.
    await storedIn(host, surface).users.update(who.id, { enabled: true }, { passwordHash: null })
    const on = passkeysOn(host, surface)
    const { bearer } = who
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    const outcomes: string[] = []
    at('users.update', {
      // Before the sessions are ended: the thief's request is let in.
      async after() {
        const begun = await on.startRegistration({ bearer })
        const { challengeId, options } = JSON.parse(begun.text)
        const response = authenticator.create(options)
        const finished = await on.finishRegistration({ bearer }, challengeId, response)
        outcomes.push(outcomeOf(begun), outcomeOf(finished))
      },
    })
    expect(await host.auth[surface].users.resetMfa(who.id)).toBe(true)
    expect(outcomes).toEqual(['200', '401 session_revoked'])
    const { passkeys } = storedIn(host, surface)
    expect(await passkeys.find({ userId: who.id }, { limit: 9 })).toEqual([])
  })
})
