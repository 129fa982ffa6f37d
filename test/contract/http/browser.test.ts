import { describe, expect, it } from 'vitest'
import { isChromiumMissing, visitors } from '../../support/hosts/browser.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { person } from '../../support/people/people.js'
import { browserHost } from './browser-host.js'

const { arrive } = visitors()

describe.skipIf(isChromiumMissing)('chromium at a host on http://localhost', () => {
  eachSurface.it('keeps the refresh cookie from scripts, and sends it back', async (surface) => {
    const host = await browserHost()
    const { email, password } = await person(host, surface)
    const page = await (await arrive()).newPage()
    await page.goto(`${host.url}/`)
    const post = (path: string, body: object | null) =>
      page.evaluate(
        async ([to, json]) => {
          const headers = { 'content-type': 'application/json' }
          const reply = await fetch(to, { method: 'POST', headers, body: json })
          return [reply.status, reply.headers.get('x-refresh-outcome')]
        },
        [`/v1/auth/${surface}${path}`, body && JSON.stringify(body)] as const,
      )
    expect(await post('/refresh-cookie', null)).toEqual([401, null])
    expect(await post('/login', { email, password })).toEqual([200, null])
    const marker = { operator: 'op_signed_in=1', client: 'cl_signed_in=1' }[surface]
    expect(await page.evaluate('document.cookie')).toBe(marker)
    expect(await post('/refresh-cookie', null)).toEqual([200, 'rotated'])
    const stranger = await arrive()
    expect(await stranger.cookies()).toEqual([])
  })

  it('reaches nothing but this machine', async () => {
    const page = await (await arrive()).newPage()
    await expect(page.goto('http://example.org/')).rejects.toThrow('ERR_NAME_NOT_RESOLVED')
    await expect(page.goto('http://192.0.2.1/')).rejects.toThrow('ERR_NAME_NOT_RESOLVED')
  })
})
