import { expect, it } from 'vitest'
import { mailBox } from '../../../examples/console/host/mail-box.js'
import type { Mail } from '../../../src/ports/host.js'

const now = Date.parse('2026-01-01T00:00:00Z')

function box() {
  const sent: string[] = []
  const mails = mailBox(
    { send: async ({ to }, { locale }) => void sent.push(`${to} ${locale}`) },
    () => now,
  )
  return { ...mails, sent }
}

const confirming = (to: string, languages?: readonly string[]): Mail => ({
  ...{ surface: 'client', to, name: '', template: 'verifyEmail' },
  ...(languages === undefined ? {} : { languages }),
  data: { url: 'https://app.example.com/verify-email#token=x', token: 'x', expiresAt: now },
})
const asked = (to: string, languages: readonly string[]): Mail => ({
  ...{ surface: 'client', to, name: '', template: 'resetPassword', languages },
  data: { url: 'https://app.example.com/reset-password#token=x', token: 'x', expiresAt: now },
})
const notice = (to: string, surface: 'client' | 'operator' = 'client'): Mail => ({
  ...{ surface, to, name: '', template: 'passwordChanged', data: { at: now } },
})

it('a notice has the language in which its address was confirmed, and English where it is unknown', async () => {
  const { send, sent } = box()
  await send(notice('ada@example.org'))
  await send(confirming('ada@example.org', ['de-at', 'en']))
  await send(notice('ada@example.org'))
  await send(notice('ada@example.org', 'operator'))
  await send(notice('bob@example.org'))
  expect(sent.map((one) => one.slice(-2))).toEqual(['en', 'de', 'de', 'en', 'en'])
})

it('a request of another browser changes no language, but for a mail that confirms the address', async () => {
  const { send, sent } = box()
  await send(asked('ada@example.org', ['de']))
  await send(notice('ada@example.org'))
  await send(confirming('ada@example.org', ['de']))
  await send(asked('ada@example.org', ['en']))
  await send(confirming('ada@example.org'))
  await send(notice('ada@example.org'))
  await send(confirming('ada@example.org', ['en', 'de']))
  await send(notice('ada@example.org'))
  expect(sent.map((one) => one.slice(-2))).toEqual(['de', 'en', 'de', 'de', 'en', 'de', 'en', 'en'])
})

it('keeps the newest 50 mails and the languages of the newest thousand addresses', async () => {
  const { send, mails } = box()
  for (let i = 0; i <= 1_000; i += 1) await send(confirming(`${i}@example.org`, ['de']))
  await send(notice('0@example.org'))
  await send(notice('1@example.org'))
  expect(mails.slice(0, 2).map(({ locale }) => locale)).toEqual(['de', 'en'])
  expect(mails.length).toBe(50)
  expect(new Set(mails.map(({ id }) => id)).size).toBe(50)
})
