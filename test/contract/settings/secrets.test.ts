import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Reply } from '../../support/hosts/http-client.js'
import { person, signIn } from '../../support/people/people.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { type Change, settingsHost, webhookSecret, webhookUrl } from './settings-host.js'

const pem = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey

const google = 'planted-google-1d7c'
const microsoft = 'planted-microsoft-77ab'
const github = 'planted-github-90fe'
const later = 'planted-later-3e3e-of-32-characters-or-more'

const hook = (secret: string, url = webhookUrl): Readonly<Record<string, string>> => ({
  'securityWebhooks.siem.url': url,
  'securityWebhooks.siem.signingSecret': secret,
  'securityWebhooks.siem.events': 'all',
})
const created: NonNullable<Change['recordLists']> = [
  { field: 'securityWebhooks', create: ['siem'], remove: [] },
]
const removed: NonNullable<Change['recordLists']> = [
  { field: 'securityWebhooks', create: [], remove: ['siem'] },
]
const provider = (name: string, secret: string) => ({
  [`${name}ClientId`]: 'id',
  [`${name}ClientSecret`]: secret,
  [`${name}ClientEnabled`]: 'true',
})

const refused: readonly Change[] = [
  { recordLists: created, config: hook(later, 'http://siem.example/in') },
  { recordLists: created, config: hook(later, 'https://127.0.0.1/in') },
  { recordLists: created, config: hook(later, `https://u:${later}@siem.example/`) },
  { config: { applePrivateKey: `${later} is not a key` } },
  { config: { googleClientSecret: `${later}${'x'.repeat(255)}` } },
  { config: { googleClientSecret: `${later}\u0000` } },
  { config: { microsoftClientSecret: later, microsoftTenant: 'contoso' } },
  { config: { passwordMinLength: later } },
  { config: { githubOperatorEnabled: 'true', githubClientSecret: later, githubClientId: '' } },
  { config: { googleClientSecret: later, passwordLoginClientEnabled: 'false' } },
  { config: { googleClientSecret: later, accessTokenTTL: '1s' } },
  { config: { googleSecret: later } },
  { config: { 'securityWebhooks.other.signingSecret': later } },
]

it('the secrets among the settings are nowhere in clear', async () => {
  const spy = spyBackend()
  const secrets = secretsOf(google, microsoft, github, later, webhookSecret)
  secrets.keep(...pem.split('\n').filter((line) => /^[\w+/=]{16,}$/.test(line)))
  const host = await settingsHost({
    mailedCode: false,
    backend: spy.backend,
    settings: { githubClientSecret: github },
    env: { MICROSOFT_CLIENT_SECRET: microsoft },
  })
  const replies: Reply[] = []
  const keep = async (reply: Promise<Reply>) => replies.push(await reply)

  for (const change of refused) {
    await keep(host.patch(change))
    await keep(host.patch(change, 'sandbox'))
  }
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400, 409, 422]))

  const changes: readonly Change[] = [
    { config: provider('google', google) },
    { config: { applePrivateKey: pem } },
    { recordLists: created, config: hook(webhookSecret) },
  ]
  for (const change of changes) {
    await keep(host.patch(change))
    await keep(host.patch(change, 'sandbox'))
  }
  const shown = await host.get('/environments/production')
  expect(shown.json()['secretsSet']).toEqual([
    'applePrivateKey',
    'githubClientSecret',
    'googleClientSecret',
    'microsoftClientSecret',
    'securityWebhooks.siem.signingSecret',
  ])
  replies.push(shown)

  // It is used, rightly signed, told of to an endpoint that fails, and replaced.
  await signIn(host, 'client', await person(host, 'client'))
  await host.auth.close()
  expect(host.endpoints.received.length).toBeGreaterThan(0)
  host.endpoints.answer('refused')
  await signIn(host, 'client', await person(host, 'client'))
  await host.auth.close()
  host.endpoints.answer(204)
  await keep(host.patch({ config: { googleClientSecret: later } }))
  await keep(host.activate('sandbox'))
  await keep(host.activate('production'))
  await keep(host.patch({ recordLists: removed }))
  for (const path of ['', '/environments/sandbox', '/environments/production/revisions']) {
    await keep(host.get(path))
  }
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400, 409, 422]))
  await host.auth.close()

  for (const reply of replies) {
    expect([
      reply.text,
      secrets.foundIn([reply.text, ...[...reply.headers].flat()].join('\n')),
    ]).toEqual([reply.text, []])
  }
  const told = { log: host.logger.lines, events: host.events, mails: host.mailer.sent }
  for (const [where, what] of Object.entries({ ...told, rows: spy.written })) {
    expect([where, secrets.foundIn(JSON.stringify(what))]).toEqual([where, []])
  }
  // Audit records and history are among the rows, and so are the same values, encrypted.
  const rows = JSON.stringify(spy.written)
  expect(rows).toContain('"action":"config.changed"')
  expect(rows).toMatch(/"securityWebhooks\.siem\.signingSecret":"(?!planted)/)
})
