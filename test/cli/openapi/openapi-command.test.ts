import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openApiDocument } from 'postern/openapi'
import { expect, it } from 'vitest'
import { configured } from '../../support/cli/configured.js'

const ofClient = openApiDocument({
  surfaces: ['client'],
  servers: [{ url: 'https://app.example.com' }],
})

it('writes the document of one surface, and asks no database', async () => {
  const place = await configured({
    backend: new Proxy({}, { get: () => expect.fail('the backend was asked') }) as never,
  })
  const { code, out, err } = await place.run('openapi', '--surface', 'client')
  expect([code, err, JSON.parse(out)]).toEqual([0, '', ofClient])
  expect(await place.run('openapi', '--surface', 'client', '--json')).toEqual({ code, out, err })
})

it('writes both surfaces, with the servers and cookies of the host', async () => {
  const place = await configured({
    surfaces: {
      operator: {
        baseUrl: 'https://admin.example.com',
        cookieDomain: 'example.com',
        cookieNamePrefix: 'shop_',
      },
      client: {
        baseUrl: 'https://app.example.com',
        routesUrl: 'https://api.example.com/auth/',
        cookieDomain: 'example.com',
        cookieNamePrefix: 'shop_',
      },
    },
  })
  const flags = ['--title', 'Acme', '--api-version', '2.1']
  const whole = JSON.parse((await place.run('openapi', ...flags)).out)
  expect(whole).toEqual(
    openApiDocument({
      servers: [{ url: 'https://admin.example.com' }, { url: 'https://api.example.com/auth' }],
      cookiePrefix: '__Secure-',
      cookieNamePrefix: 'shop_',
      title: 'Acme',
      version: '2.1',
    }),
  )
  const below = JSON.parse((await place.run('openapi', '--prefix', '/identity')).out)
  expect(below.servers).toEqual([
    { url: 'https://admin.example.com/identity' },
    { url: 'https://api.example.com/identity' },
  ])
})

it('names plain cookies on a host of development, and refuses two ways in one document', async () => {
  const surfaces = {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3000' },
  }
  const { out } = await (await configured({ surfaces })).run('openapi')
  expect(JSON.parse(out)).toEqual(
    openApiDocument({ servers: [{ url: 'http://localhost:3000' }], cookiePrefix: '' }),
  )
  const mixed = { ...surfaces, client: { baseUrl: 'https://app.example.com' } }
  const refused = await (await configured({ surfaces: mixed })).run('openapi')
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('--surface')
})

it('says whether a file is the document, however it is formatted', async () => {
  const place = await configured()
  const file = join(place.folder, 'auth.json')
  const check = () => place.run('openapi', '--surface', 'client', '--check', 'auth.json')
  expect(await check()).toMatchObject({ code: 1, out: expect.stringContaining('no such file') })
  await writeFile(file, JSON.stringify(ofClient))
  expect(await check()).toMatchObject({ code: 0 })
  await writeFile(file, JSON.stringify(ofClient, null, 4))
  expect(await check()).toMatchObject({ code: 0 })
  for (const other of [JSON.stringify({ ...ofClient, paths: {} }), 'no JSON']) {
    await writeFile(file, other)
    expect(await check()).toMatchObject({ code: 1, out: expect.stringContaining('another') })
    expect(await readFile(file, 'utf8')).toBe(other)
  }
  const told = await place.run('openapi', '--check', 'auth.json', '--json')
  expect([told.code, JSON.parse(told.out)]).toEqual([1, { file: 'auth.json', isSame: false }])
})

it.each([
  ['--surface', 'admin'],
  ['--prefix', 'identity'],
  ['--prefix', '/identity/'],
  ['--prefix', '/a?b'],
])('refuses %s %s', async (...flags) => {
  const { code, out } = await (await configured()).run('openapi', ...flags)
  expect([code, out]).toEqual([2, ''])
})
