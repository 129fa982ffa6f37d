import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'

const smtpDown = new Error('connect ECONNREFUSED 127.0.0.1:25')

eachSurface.describe('mail', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}/${path}`

  it('fails no request, and its failing is told', async () => {
    const host = await openHost()
    const owner = await signedInPerson(host, surface)
    const newcomer = { email: 'new@example.org', password: goodPassword }
    const well = seenOf(
      await host.send('POST', at('password/forgot'), { body: { email: 'x@y.org' } }),
    )
    host.mailer.fail(smtpDown)

    const registered = await host.send('POST', at('register'), { body: newcomer })
    expect(registered.text).toBe('{"status":"verificationRequired"}')
    const repeated = { ...newcomer, email: owner.email }
    const taken = await host.send('POST', at('register'), { body: repeated })
    expect(seenOf(taken)).toEqual(seenOf(registered))
    const forgot = await host.send('POST', at('password/forgot'), { body: { email: owner.email } })
    expect(seenOf(forgot)).toEqual(well)
    const changed = await host.send('POST', at('me/password'), {
      bearer: owner.bearer,
      body: { currentPassword: owner.password, newPassword: otherPassword },
    })
    expect(outcomeOf(changed)).toBe('204')
    await host.auth.close()

    const failed = eventsOf(host, 'mail.failed').map((event) => [
      event.surface,
      event.template,
      event.userId,
    ])
    expect(failed).toEqual([
      [surface, 'verifyEmail', null],
      [surface, 'accountExists', null],
      [surface, 'resetPassword', owner.id],
      [surface, 'passwordChanged', owner.id],
    ])
    const errors = host.logger.lines.filter(({ level }) => level === 'error')
    expect(errors).toHaveLength(4)
    // Neither event nor log says to whom, or what was in it.
    const told = JSON.stringify([host.events, host.logger.lines])
    expect(told).not.toMatch(/example\.org|#token=/)
  })

  it('may fail before it gives a promise', async () => {
    const send = () => {
      throw smtpDown
    }
    const host = await openHost({ mailer: { send } })
    const { email } = await person(host, surface)
    const reply = await host.send('POST', at('password/forgot'), { body: { email } })
    expect(outcomeOf(reply)).toBe('202')
    await host.auth.close()
    expect(eventsOf(host, 'mail.failed')).toMatchObject([{ template: 'resetPassword' }])
  })

  it('keeps no request waiting, and is waited for at the end', async () => {
    let deliver = (): void => {}
    let delivered = false
    const sending = new Promise<void>((resolve) => {
      deliver = resolve
    })
    const send = async () => {
      await sending
      delivered = true
    }
    const host = await openHost({ mailer: { send } })
    const { email } = await person(host, surface)
    const reply = await host.send('POST', at('password/forgot'), { body: { email } })
    expect([outcomeOf(reply), delivered]).toEqual(['202', false])
    const closing = host.auth.close()
    deliver()
    await closing
    expect(delivered).toBe(true)
  })

  it('never goes to an address that cannot receive any', async () => {
    const host = await openHost()
    const { id } = await person(host, surface)
    const { users } = storedIn(host, surface)
    // No door lets such an address in; a machine's record has one.
    await users.update(id, { enabled: true }, { email: 'robot@machines.invalid' })
    const body = { email: 'robot@machines.invalid' }
    expect(outcomeOf(await host.send('POST', at('password/forgot'), { body }))).toBe('202')
    await host.auth.close()
    expect(host.mailer.sent).toEqual([])
    const told = host.logger.lines.filter(({ level }) => level === 'info')
    expect(told).toMatchObject([{ fields: { template: 'resetPassword' } }])
  })

  it("leads to the host's own pages, the token in the fragment", async () => {
    const pages = { verifyEmail: '/welcome?step=2', resetPassword: 'https://id.example.com/reset' }
    const host = await openHost({
      surfaces: {
        operator: { baseUrl: 'https://admin.example.com/console', pages },
        client: { baseUrl: 'https://app.example.com/console/', pages },
      },
    })
    const owner = await person(host, surface)
    const body = { email: 'new@example.org', password: goodPassword }
    await host.send('POST', at('register'), { body })
    await host.send('POST', at('register'), { body: { ...body, email: owner.email } })
    await host.send('POST', at('password/forgot'), { body: { email: owner.email } })
    await host.auth.close()
    const base = { operator: 'https://admin.example.com', client: 'https://app.example.com' }
    const verify = host.mailer.last('verifyEmail', body.email).data
    expect(verify.url).toBe(`${base[surface]}/console/welcome?step=2#token=${verify.token}`)
    const { url } = host.mailer.last('accountExists', owner.email).data
    expect(url).toBe(`${base[surface]}/console/login`)
    const reset = host.mailer.last('resetPassword', owner.email).data
    expect(reset.url).toBe(`https://id.example.com/reset#token=${reset.token}`)
    expect(new URL(verify.url).hash).toBe(`#token=${verify.token}`)
  })

  it('calls nobody by a name that a stranger may have given them', async () => {
    const host = await openHost()
    const { email, ...rest } = { email: 'new@example.org', password: goodPassword, name: 'Win!' }
    const forgotten = async (): Promise<string> => {
      await host.send('POST', at('password/forgot'), { body: { email } })
      await host.auth.close()
      return host.mailer.last('resetPassword', email).name
    }
    const { cookie } = await registerHere(host, surface, { email, ...rest })
    const token = await mailedToken(host, 'verifyEmail', email)
    expect(host.mailer.last('verifyEmail', email).name).toBe('')
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
    expect(await forgotten()).toBe('Win!')
    const { id } = await storedUser(host, surface, email)
    await storedIn(host, surface).users.update(id, { enabled: true }, { emailVerifiedAt: null })
    expect(await forgotten()).toBe('')
  })

  it.each([
    [{ 'accept-language': 'de-AT,de;q=0.9,<b>;q=0.8,en;q=0.5' }, ['de-at', 'de', 'en']],
    [{ 'accept-language': '<b>' }, undefined],
    [{}, undefined],
  ])('asked for with %j brings the languages %j, and a notice none', async (headers, languages) => {
    const host = await openHost()
    const { bearer, email, password: currentPassword } = await signedInPerson(host, surface)
    const { email: taken } = await person(host, surface)
    const ask = (path: string, body: object) =>
      host.send('POST', at(path), { bearer, body, headers })
    const newcomer = { email: 'new@example.org', password: goodPassword }
    await ask('register', newcomer)
    await ask('register', { ...newcomer, email: taken })
    await ask('email/verify/resend', { email: newcomer.email })
    await ask('password/forgot', { email })
    await ask('me/email', { newEmail: 'moved@example.org', currentPassword })
    await ask('me/email', { newEmail: taken, currentPassword })
    await ask('me/password', { currentPassword, newPassword: otherPassword })
    await host.auth.close()
    const { sent } = host.mailer
    expect(sent.map(({ template }) => template).sort()).toEqual([
      ...['accountExists', 'accountExists', 'changeEmail'],
      ...['emailChangeRequested', 'emailChangeRequested', 'passwordChanged'],
      ...['resetPassword', 'verifyEmail', 'verifyEmail'],
    ])
    for (const mail of sent) {
      const asked = 'url' in mail.data && languages !== undefined
      expect('languages' in mail).toBe(asked)
      if (asked) expect(mail.languages).toEqual(languages)
    }
  })
})
