import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { controlOf, settingsOf } from './configuration-steps.js'
import { type ConsoleRig, consoleRigs, password, seeHeading, signIn } from './console-rig.js'
import { agree, proveByApp, seatedAdmin } from './operator-steps.js'

const start = consoleRigs()
const email = 'ada@example.org'

/** The reply to the next request of this method and path that succeeds stays back, once it is there, until it is let go. */
async function holdNext(page: Page, method: string, path: string) {
  await page.evaluate(`(() => {
    const send = window.fetch
    let isTaken = false
    window.answered = new Promise((answered) => {
      window.fetch = async (request, ...more) => {
        const { method, url } = request instanceof Request ? request : new Request(request, ...more)
        const reply = await send(request, ...more)
        if (isTaken || !reply.ok || method !== '${method}' || !new URL(url).pathname.endsWith('${path}')) return reply
        isTaken = true
        await new Promise((letGo) => {
          window.letGo = letGo
          answered(reply.status)
        })
        return reply
      }
    })
  })()`)
  return {
    /** The status, once the server has answered. */
    answered: () => page.evaluate('answered'),
    /** Resolves once the page has read the reply, and a later one as well. */
    letGo: () => page.evaluate('letGo(), fetch("/icon.svg").then((icon) => icon.text())'),
  }
}

/** Another session of the user, of an app. */
async function otherSession(page: Page): Promise<void> {
  const body = JSON.stringify({ email, password })
  const status = await page.evaluate(`fetch('/v1/auth/operator/mobile/login', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)},
  }).then(({ status }) => status)`)
  expect(status).toBe(200)
}

async function administrator(rig: ConsoleRig, path: string): Promise<Page> {
  await rig.account('operator', email, 'administrator')
  const page = await rig.open('operator', path)
  await signIn(page, email)
  return page
}

describe.skipIf(isChromiumMissing)('replies that come late to the console, in chromium', () => {
  it('settings take no input while they are saved', async () => {
    const page = await settingsOf(await start(), '/shop/live')
    const title = controlOf(page, 'title')
    const isInert = async () => (await page.locator('[inert] [id="setting-title"]').count()) === 1
    await title.fill('A first title')
    const patch = await holdNext(page, 'PATCH', '/environments/live')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await patch.answered()
    expect(await isInert()).toBe(true)
    await patch.letGo()
    await page.getByText('Saved as revision 2.').waitFor()
    expect([await isInert(), await title.inputValue()]).toEqual([false, 'A first title'])
  })

  it('a list is not shown as it was before a later change', async () => {
    const rig = await start()
    const page = await administrator(rig, '/sessions')
    await seeHeading(page, 'Sessions')
    await otherSession(page)
    await otherSession(page)
    await page.reload()
    const ends = page.getByRole('button', { name: /^End the session of/ })
    await expect.poll(() => ends.count()).toBe(2)
    const list = await holdNext(page, 'GET', '/operator/sessions')
    await ends.nth(0).click()
    await list.answered()
    // The list is still the first one. This ends the other session.
    await ends.nth(1).click()
    await expect.poll(() => ends.count()).toBe(0)
    await list.letGo()
    expect(await ends.count()).toBe(0)
  })

  it('a question closes when another user takes the place of the one who was asked', async () => {
    const rig = await start()
    await rig.account('client', email)
    await rig.account('client', 'grace@example.org')
    const page = await rig.open('client', '/')
    await signIn(page, email)
    await page.getByRole('button', { name: 'Delete my account …' }).click()
    await page.getByRole('dialog').waitFor()
    const login = JSON.stringify({ email: 'grace@example.org', password })
    const tab = await rig.open('client', '/', { visitor: page.context() })
    await tab.getByText(`Your address is ${email}.`).waitFor()
    await tab.evaluate(`fetch('/v1/auth/client/login', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(login)},
    })`)
    const hint = JSON.stringify({ v: 1, surface: 'client', kind: 'session' })
    await tab.evaluate(
      `new BroadcastChannel('postern:' + location.origin + '/v1/auth/client').postMessage(${hint})`,
    )
    await page.getByText('Your address is grace@example.org.').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('a reply leads nowhere after the user has gone to another page', async () => {
    const rig = await start()
    const id = await rig.account('client', 'grace@example.org')
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await page.goto(`${rig.host.operatorUrl}/users/client/${id}`)
    await page.getByRole('button', { name: 'Delete …' }).click()
    const removal = await holdNext(page, 'DELETE', `/users/client/${id}`)
    await agree(page, 'Delete for good')
    await proveByApp(admin)
    expect(await removal.answered()).toBe(204)
    await page.getByRole('link', { name: 'Audit log', exact: true }).click()
    await seeHeading(page, 'Audit log')
    await removal.letGo()
    expect(new URL(page.url()).pathname).toBe('/audit')
    expect(await rig.host.auth.client.users.get(id)).toBeNull()
  })
})
