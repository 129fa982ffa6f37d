import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Fetcher } from '../../../src/ports/host.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { webhookEndpoints } from '../../support/outside/webhook-endpoint.js'
import { signedInPerson } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'

const url = 'https://siem.example/in'
/** Not a name of anything else, so that it would be found. */
const signingSecret = 'whsec-9b2f6d-of-at-least-32-characters'

eachSurface.it('a webhook is told of what happens', async (surface) => {
  const endpoints = webhookEndpoints({ [url]: signingSecret })
  const securityWebhooks = [{ slug: 'siem', url, signingSecret, events: 'all' as const }]
  const host = await openHost({ fetcher: endpoints, settings: { securityWebhooks } })
  const who = await signedInPerson(host, surface)
  await host.send('POST', `/v1/auth/${surface}/logout`, { bearer: who.bearer })
  await host.auth.close()
  const told = endpoints.received.map(({ body }) => [body['type'], body['userId'], body['surface']])
  expect(told).toEqual([
    ['login.succeeded', who.id, surface],
    ['session.terminated', who.id, surface],
  ])
  expect(JSON.stringify([host.logger.lines, host.events])).not.toContain(signingSecret)
})

it('the secret of a webhook is changed over HTTP, and every event arrives with a signature that its receiver takes', async () => {
  const renewed = 'whsec-77c1e0-of-at-least-32-characters'
  let known = signingSecret
  const refused: string[] = []
  const signatures: number[] = []
  const receiver: Fetcher = {
    async fetch({ headers, body = '' }) {
      const shown = (headers['x-signature'] ?? '').split(',')
      const wanted = `sha256=${createHmac('sha256', known).update(body).digest('hex')}`
      if (!shown.includes(wanted)) refused.push(body)
      signatures.push(shown.length)
      return { status: 204, body: '' }
    },
  }
  const securityWebhooks = [{ slug: 'siem', url, signingSecret, events: 'all' as const }]
  const host = await settingsHost({ fetcher: receiver, settings: { securityWebhooks } })
  const happens = async () => {
    signatures.length = 0
    await signedInPerson(host, 'client')
    await host.auth.close()
    return signatures
  }
  const key = (name: string) => `securityWebhooks.siem.${name}`
  expect(await happens()).toEqual([1])
  await host.set({
    config: { [key('signingSecret')]: renewed, [key('previousSigningSecret')]: signingSecret },
  })
  expect(await happens()).toEqual([2])
  known = renewed
  expect(await happens()).toEqual([2])
  await host.set({ config: { [key('previousSigningSecret')]: '' } })
  expect(await happens()).toEqual([1])
  expect(refused).toEqual([])
  known = signingSecret
  await happens()
  expect(refused).toHaveLength(1)
  expect(JSON.stringify([host.logger.lines, host.events])).not.toMatch(/whsec-/)
})

it('a previous secret of fewer than 32 characters is refused, and none is shown', async () => {
  const securityWebhooks = [{ slug: 'siem', url, signingSecret, events: 'all' as const }]
  const host = await settingsHost({
    fetcher: webhookEndpoints({ [url]: signingSecret }),
    settings: { securityWebhooks },
  })
  const key = 'securityWebhooks.siem.previousSigningSecret'
  expect((await host.patch({ config: { [key]: 'short' } })).status).toBe(422)
  await host.set({ config: { [key]: signingSecret } })
  const shown = await host.get('/environments/production')
  expect(shown.text).not.toContain(signingSecret)
})
