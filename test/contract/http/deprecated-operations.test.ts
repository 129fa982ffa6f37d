import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openApiDocument } from '../../../src/openapi/index.js'
import { operationOptions } from '../../../src/operations/operation.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'

const { since, sunset } = vi.hoisted(() => ({
  since: '2026-03-01T00:00:00Z',
  sunset: '2027-03-01T12:30:00Z',
}))

// Nothing of the table is on its way out, so that two rows are planted in it.
vi.mock(import('../../../src/operations/index.js'), async (importOriginal) => {
  const { operations } = await importOriginal()
  const { plantedOperation } = await import('../../openapi/planted.js')
  const path = '/v1/auth/{surface}/leaving'
  return {
    operations: [
      ...operations,
      plantedOperation({ id: 'leaving', path, deprecated: { since, sunset } }),
      plantedOperation({ id: 'discouraged', path: `${path}/later`, deprecated: { since } }),
    ],
  }
})

const told = ({ headers }: Reply) => [headers.get('deprecation'), headers.get('sunset')]

describe('an operation that is on its way out', () => {
  let host: ContractHost
  beforeAll(async () => {
    host = await memoryHost.start()
  })
  afterAll(() => host.close())

  it('says so on every reply, refusals included (RFC 9745, RFC 8594)', async () => {
    const at = '/v1/auth/client/leaving'
    const done = await host.send('POST', at, { body: { word: 'x' } })
    const refused = await host.send('POST', at, { body: {} })
    const unread = await host.send('POST', at)
    expect([done.status, refused.status, unread.status]).toEqual([200, 400, 415])
    for (const reply of [done, refused, unread]) {
      expect(told(reply)).toEqual(['@1772323200', 'Mon, 01 Mar 2027 12:30:00 GMT'])
    }
  })

  it('need not say when it will be gone', async () => {
    const reply = await host.send('POST', '/v1/auth/operator/leaving/later', {
      body: { word: 'x' },
    })
    expect([reply.status, ...told(reply)]).toEqual([200, '@1772323200', null])
  })

  it('lets pages of other origins read it', async () => {
    const headers = { origin: 'https://app.example.com' }
    const reply = await host.send('POST', '/v1/auth/client/leaving', { body: {}, headers })
    expect(reply.headers.get('access-control-expose-headers')).toMatch(/Deprecation.*Sunset/)
  })

  it('leaves the others alone', async () => {
    const reply = await host.send('GET', '/v1/auth/client/jwks')
    expect([reply.status, ...told(reply)]).toEqual([200, null, null])
  })

  it('is marked in the OpenAPI document', () => {
    const { paths } = openApiDocument({ surfaceOptions: operationOptions })
    expect(paths['/v1/auth/client/leaving']?.post).toMatchObject({
      deprecated: true,
      responses: {
        200: { headers: { Deprecation: { required: true }, Sunset: { required: true } } },
        400: { headers: { Deprecation: { required: true }, Sunset: { required: true } } },
      },
    })
    const marked = Object.values(paths).flatMap(({ post }) => (post?.deprecated ? [post] : []))
    expect(marked).toHaveLength(4)
  })
})
