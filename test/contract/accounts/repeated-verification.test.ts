import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { mailedToken, openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'

const email = 'ada@example.org'
const minute = 60_000
const done = '200'
const gone = '400 invalid_token'

async function registered() {
  const host = await openHost({ backend: memory() })
  const { cookie } = await registerHere(host, 'client', { email })
  const token = await mailedToken(host, 'verifyEmail', email)
  return { host, cookie, token }
}

it('the page of a link may send it twice, at once and for ten minutes, and nothing is done again', async () => {
  const { host, cookie, token } = await registered()
  const send = (newPassword?: string) =>
    verifyWith(host, 'client', { token, ...(newPassword && { newPassword }) }, cookie)
  const both = await Promise.all([send(), send()])
  expect(both.map(outcomeOf)).toEqual([done, done])
  const told = host.events.length
  await host.clock.advance(10 * minute - 1)
  const again = await send()
  expect([again.status, again.text, again.setCookies]).toEqual([200, '{"status":"verified"}', []])
  expect(host.events).toHaveLength(told)
  expect(outcomeOf(await send(goodPassword))).toBe(done)
  expect(outcomeOf(await send(otherPassword))).toBe(gone)
  await host.clock.advance(1)
  expect(outcomeOf(await send())).toBe(gone)
})

it('no other browser gets the answer, nor does the same one once the credentials changed', async () => {
  const { host, cookie, token } = await registered()
  const other = await registerHere(host, 'client', { email: 'eve@example.org' })
  const send = (shown?: string) => verifyWith(host, 'client', { token }, shown)
  expect(outcomeOf(await send(cookie))).toBe(done)
  expect(outcomeOf(await send(other.cookie))).toBe(gone)
  expect(outcomeOf(await send())).toBe(gone)
  const [user] = (await host.auth.client.users.list({})).users
  await host.auth.client.users.update(user?.id ?? '', { enabled: false })
  expect(outcomeOf(await send(cookie))).toBe(gone)
})
