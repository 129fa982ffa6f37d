import { describe, expect, it } from 'vitest'
import type { BeforeRegister } from '../../../src/index.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, storedIn } from '../../support/hosts/open-host.js'
import { goodPassword, person } from '../../support/people/people.js'
import { memberOf, oauthHost } from '../oauth/oauth-host.js'

const email = 'Ada@Throwaway.example'
const refused = { code: 'signup.disposable_mail', detail: 'Use an address that lasts.' }
const atGoogle = { subject: '1815', email: 'ada@throwaway.example', verified: true }

/** A host that asks, with what it was asked. */
async function asking(answer: BeforeRegister, options: Partial<HostOptions> = {}) {
  const asked: unknown[] = []
  const beforeRegister: BeforeRegister = (who) => {
    asked.push(who)
    return answer(who)
  }
  const host = await oauthHost({ ...options, beforeRegister })
  const register = (surface: 'operator' | 'client', address = email) =>
    host.send('POST', `/v1/auth/${surface}/register`, {
      body: { email: address, password: goodPassword },
    })
  return { host, asked, register }
}

describe('beforeRegister', () => {
  eachSurface.it('refuses a registration with the code of the host', async (surface) => {
    const { host, asked, register } = await asking(() => refused)
    const reply = await register(surface)
    expect([reply.status, reply.json()]).toMatchObject([
      403,
      { code: 'registration_disabled', reason: refused.code, detail: refused.detail },
    ])
    expect(asked).toEqual([{ email: 'ada@throwaway.example', surface, via: 'password' }])
    expect(host.mailer.sent).toEqual([])
    expect(
      await storedIn(host, surface).pendingRegistrations.find({ method: 'password' }, { limit: 1 }),
    ).toEqual([])
  })

  it('is asked before the address is looked for, so that taken ones are refused alike', async () => {
    const { host, register } = await asking(() => refused)
    const owner = await person(host, 'client')
    const [free, taken] = [await register('client'), await register('client', owner.email)]
    expect(taken.text).toBe(free.text)
    expect(taken.status).toBe(403)
  })

  it('refuses a sign-up by a provider once it has proved who signs up', async () => {
    const { host, asked } = await asking(() => refused)
    const back = await host.signIn('client', 'google', atGoogle)
    expect(memberOf(back, 'error')).toBe('registration_disabled')
    expect(memberOf(back, 'reason')).toBe(refused.code)
    expect(asked).toEqual([{ email: atGoogle.email, surface: 'client', via: 'google' }])
    expect(eventsOf(host, 'login.failed')).toMatchObject([{ reason: 'registration_disabled' }])
    expect(host.made()).toEqual([])
    // Who has an account is told how to get in.
    const owner = await person(host, 'client')
    const known = await host.signIn('client', 'google', { ...atGoogle, email: owner.email })
    expect(memberOf(known, 'error')).toBe('account_exists_link_required')
    const unverified = { ...atGoogle, verified: false }
    const unproved = await host.signIn('client', 'google', unverified)
    expect(memberOf(unproved, 'error')).toBe('oauth_email_unverified')
    expect(asked).toHaveLength(1)
  })

  it('lets others through, and is not asked about accounts that the host makes', async () => {
    const { host, asked, register } = await asking(async () => null)
    await host.auth.client.users.create({ email: 'made@example.org' })
    expect(asked).toEqual([])
    expect((await register('client')).json()).toEqual({ status: 'verificationRequired' })
    expect(memberOf(await host.signIn('client', 'google', atGoogle), 'error')).toBe('')
    expect(asked).toHaveLength(2)
  })

  it.each<[string, unknown, string?]>([
    ['throws', () => Promise.reject(new Error('down')), 'Error'],
    [
      'throws at once',
      () => {
        throw new Error('down')
      },
      'Error',
    ],
    ['answers true', () => true],
    ['gives a code of the library', () => ({ code: 'auth.no_login_method' })],
    ['gives a code without a dot', () => ({ code: 'no' })],
    ['gives a detail that is no text', () => ({ ...refused, detail: 7 })],
  ])('gives 503 and makes nothing where it %s', async (_what, answer, error = 'OptionsError') => {
    const { host, register } = await asking(answer as BeforeRegister)
    const reply = await register('client')
    expect([reply.status, reply.code]).toEqual([503, 'service_unavailable'])
    expect(host.mailer.sent).toEqual([])
    const line = host.logger.lines.find(({ message }) => message === 'beforeRegister failed')
    expect(line?.fields).toMatchObject({ error })
  })

  it('may take up to two seconds', async () => {
    const { host, asked, register } = await asking(
      () => new Promise((resolve) => host.clock.after(1999, () => resolve(null))),
    )
    const reply = register('client')
    await expect.poll(() => asked.length).toBe(1)
    await host.clock.advance(1999)
    expect((await reply).status).toBe(201)
  })

  it('gives 503 where it has not answered within two seconds', async () => {
    const { host, asked, register } = await asking(() => new Promise(() => {}))
    const reply = register('client')
    await expect.poll(() => asked.length).toBe(1)
    await host.clock.advance(2000)
    expect((await reply).status).toBe(503)
  })

  it('must be a function', async () => {
    // @ts-expect-error: the types say so.
    await expect(openHost({ beforeRegister: 'no' })).rejects.toThrow('option "beforeRegister"')
  })
})
