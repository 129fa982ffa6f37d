import { expect, it } from 'vitest'
import { memberOf, oauthHost } from '../contract/oauth/oauth-host.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { mailedToken, openHost, outcomeOf, storedUser } from '../support/hosts/open-host.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { enrolled, finish, ticketOf } from '../support/people/authenticator.js'
import { goodPassword, otherPassword, signedInPerson } from '../support/people/people.js'
import { forgot, login, reset } from '../support/people/recovery-steps.js'
import { registerHere, verifyWith } from '../support/people/registration-steps.js'

/** As an account has it, … */
const kept = 'jan@xn--bcher-kva.example'
/** … and as people type it and providers send it. */
const spellings = ['Jan@Bücher.Example', 'JAN@XN--BCHER-KVA.EXAMPLE'] as const

eachSurface.describe('an address in another spelling is accepted', (surface) => {
  const account = { email: kept, password: goodPassword, emailVerified: true }

  it.each(spellings)(
    'by a registration, its mailed link and the login after: %s',
    async (email) => {
      const host = await openHost(withoutLimits)
      const { cookie } = await registerHere(host, surface, { email })
      const token = await mailedToken(host, 'verifyEmail', kept)
      expect((await verifyWith(host, surface, { token }, cookie)).status).toBe(200)
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
      expect(await storedUser(host, surface, kept)).toMatchObject({ email: kept })
    },
  )

  it.each(spellings)('by a reset, and by the login after: %s', async (email) => {
    const host = await openHost(withoutLimits)
    await host.auth[surface].users.create(account)
    await forgot(host, surface, email)
    const token = await mailedToken(host, 'resetPassword', kept)
    expect((await reset(host, surface, token, otherPassword)).status).toBe(204)
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  it.each(spellings)('by a change of address, and by the login after: %s', async (newEmail) => {
    const host = await openHost(withoutLimits)
    const { bearer, password } = await signedInPerson(host, surface)
    const body = { newEmail, currentPassword: password }
    const asked = await host.send('POST', `/v1/auth/${surface}/me/email`, { bearer, body })
    expect(asked.status, asked.text).toBe(202)
    const token = await mailedToken(host, 'changeEmail', kept)
    const path = `/v1/auth/${surface}/email/verify`
    expect((await host.send('POST', path, { bearer, body: { token } })).status).toBe(200)
    expect(outcomeOf(await login(host, surface, newEmail, password))).toBe('200')
  })

  it('by a login with a code', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const email = who.email.toUpperCase()
    const mfaToken = await ticketOf(host, surface, { ...who, email })
    expect(outcomeOf(await finish(host, surface, mfaToken, await who.nextCode()))).toBe('200')
  })

  it('from a provider, if that gives the A-label: the name of another script it may have mapped by other rules', async () => {
    const host = await oauthHost()
    const [named, labelled] = spellings.map((email) => ({ subject: '7', email, verified: true }))
    const told = async (account: typeof named) =>
      memberOf(await host.signIn(surface, 'google', account ?? expect.unreachable()), 'error')
    expect(await told(named)).toBe('oauth_email_unverified')
    expect(await told(labelled)).toBe('')
    const { id } = await storedUser(host, surface, kept)
    expect(await told(labelled)).toBe('')
    expect((await host.auth[surface].users.findByEmail(spellings[0]))?.id).toBe(id)
  })
})
