import { expect, it } from 'vitest'
import { openHost } from '../../support/hosts/open-host.js'

it.each<[string, object, string]>([
  ['a limit of nothing', { limit: 0 }, 'limit'],
  ['a limit too large', { limit: 201 }, 'limit'],
  ['half a limit', { limit: 1.5 }, 'limit'],
  ['an end that is no text', { after: 5 }, 'after'],
  ['an end that cannot be stored', { after: '\0' }, 'after'],
  ['a member that is none', { cursor: 'x' }, 'members'],
])('registrations that wait are not listed by %s', async (_what, page, named) => {
  const host = await openHost()
  const listing = Reflect.apply(host.auth.client.registrations.list, null, [page])
  await expect(listing).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(`A page's ${named} `),
  })
})
