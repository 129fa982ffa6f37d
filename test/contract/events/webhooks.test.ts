import { expect, it } from 'vitest'
import { openHost, surfaces } from '../../support/hosts/open-host.js'
import { webhookEndpoints } from '../../support/outside/webhook-endpoint.js'
import { signedInPerson } from '../../support/people/people.js'

const url = 'https://siem.example/in'
/** Not a name of anything else, so that it would be found. */
const signingSecret = 'whsec-9b2f6d-of-at-least-32-characters'

it.each(surfaces)(
  'S-60 G-15 a webhook is told of what happens on the %s surface',
  async (surface) => {
    const endpoints = webhookEndpoints({ [url]: signingSecret })
    const securityWebhooks = [{ slug: 'siem', url, signingSecret, events: 'all' as const }]
    const host = await openHost({ fetcher: endpoints, settings: { securityWebhooks } })
    const who = await signedInPerson(host, surface)
    await host.send('POST', `/v1/auth/${surface}/logout`, { bearer: who.bearer })
    await host.auth.close()
    const told = endpoints.received.map(({ body }) => [
      body['type'],
      body['userId'],
      body['surface'],
    ])
    expect(told).toEqual([
      ['login.succeeded', who.id, surface],
      ['session.terminated', who.id, surface],
    ])
    expect(JSON.stringify([host.logger.lines, host.events])).not.toContain(signingSecret)
  },
)
