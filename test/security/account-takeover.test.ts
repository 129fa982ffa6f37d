import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ContractHost, memoryHost } from '../support/hosts/hosts.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { goodPassword, otherPassword, person, signIn } from '../support/people/people.js'
import { registrationCookieOf } from '../support/people/registration-steps.js'

const at = (path: string): string => `/v1/auth/client${path}`
const victim = 'victim@example.org'

describe('nobody takes over an account, or locks its owner out', () => {
  let host: ContractHost
  beforeEach(async () => {
    host = await memoryHost.start(withoutLimits)
  })
  afterEach(() => host.close())

  const post = (path: string, body: unknown) => host.send('POST', at(path), { body })
  const register = async (password: string, more: object = {}) => {
    const reply = await post('/register', { email: victim, password, ...more })
    await host.auth.close()
    return reply
  }

  it('a link that a stranger’s registration caused puts no password of theirs in force', async () => {
    const stranger = await register(goodPassword)
    const { token } = host.mailer.last('verifyEmail', victim).data
    const owner = await register(otherPassword)
    expect(owner.text).toBe(stranger.text)
    await register(goodPassword)
    const alone = await post('/email/verify', { token })
    expect(alone.code).toBe('password_choice_required')
    const cookie = registrationCookieOf(owner) ?? ''
    const verified = await host.send('POST', at('/email/verify'), { body: { token }, cookie })
    expect(verified.status).toBe(200)
    const asOwner = await post('/login', { email: victim, password: otherPassword })
    expect(asOwner.status).toBe(200)
    const asStranger = await post('/login', { email: victim, password: goodPassword })
    expect(asStranger.code).toBe('invalid_credentials')
  })

  it('registering again changes nothing of an account that is confirmed, or made in code', async () => {
    const made = await host.auth.client.users.create({ email: victim, password: goodPassword })
    await register(otherPassword)
    expect(host.mailer.last('accountExists', victim).name).toBe('')
    await host.auth.client.users.update(made.id, { name: 'Made in code' })
    const unverified = await post('/login', { email: victim, password: goodPassword })
    expect(unverified.code).toBe('email_not_verified')
  })

  it('a stranger’s text does not reach the address in our mail', async () => {
    for (const name of ['Go to\r\nBcc: x@example.org', 'Visit evil.example']) {
      await register(goodPassword, { name })
      expect(host.mailer.last('verifyEmail', victim).name).toBe('')
    }
  })

  it('text a store cannot hold is refused at the edge', async () => {
    const reply = await register(goodPassword, { acceptedTermsVersion: '\0' })
    expect([reply.status, reply.code]).toEqual([400, 'invalid_request'])
  })

  it('asking for verification links leaves the owner the way by reset', async () => {
    const strict = await memoryHost.start()
    try {
      const who = await person(strict, 'client')
      const headers = { 'content-type': 'application/json' }
      for (let request = 0; request < 4; request += 1) {
        const body = { email: who.email }
        await strict.send('POST', at('/email/verify/resend'), { body, headers })
      }
      const forgot = await strict.send('POST', at('/password/forgot'), {
        body: { email: who.email },
      })
      expect(forgot.status).toBe(202)
      await strict.auth.close()
      expect(strict.mailer.count(who.email)).toBe(1)
    } finally {
      await strict.close()
    }
  })

  it('a link voided by a password change is no way to guess past the lockout', async () => {
    const who = await person(host, 'client')
    await post('/password/forgot', { email: who.email })
    await host.auth.close()
    const { token } = host.mailer.last('resetPassword', who.email).data
    const { bearer } = await signIn(host, 'client', who)
    const body = { currentPassword: who.password, newPassword: otherPassword }
    await host.send('POST', at('/me/password'), { bearer, body })
    for (let guess = 0; guess < 10; guess += 1) {
      const reply = await post('/password/reset', {
        token,
        newPassword: `a wrong guess no. ${guess}`,
      })
      expect(reply.code).toBe('invalid_token')
    }
    const right = await post('/password/reset', { token, newPassword: otherPassword })
    // The right one is answered as the wrong ones were: nothing was compared.
    expect(right.code).toBe('invalid_token')
  })
})
