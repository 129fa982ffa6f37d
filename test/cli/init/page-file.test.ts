import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expressRouter } from '../../../adapters/express.js'
import { pageFile } from '../../../src/cli/init/page-file.js'
import { isChromiumMissing, visitors } from '../../support/hosts/browser.js'
import { mailedToken, openHost } from '../../support/hosts/open-host.js'
import { listen } from '../../support/hosts/running-host.js'
import { goodPassword, signedInPerson } from '../../support/people/people.js'

const { arrive } = visitors()

/** A host with the page, and one of its users whom a link was mailed to. */
async function hostWithPage() {
  const host = await openHost({ settings: { passwordMinLength: 20 } })
  const { email } = await signedInPerson(host, 'client')
  await host.send('POST', '/v1/auth/client/password/forgot', { body: { email } })
  const token = await mailedToken(host, 'resetPassword', email)
  const router = expressRouter(host.auth.both)
  const proxy = { isDown: false }
  const server = createServer((request, response) => {
    if (request.url === '/client/reset-password') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(pageFile())
    } else if (proxy.isDown) {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    } else router(request, response, () => response.writeHead(404).end())
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  return { proxy, page: `${url}/client/reset-password#token=${token}` }
}

describe.skipIf(isChromiumMissing)('the page that init writes, in chromium', () => {
  it('says how long a password has to be, why one is refused, and that it is set', async () => {
    const { proxy, page: address } = await hostWithPage()
    const page = await (await arrive()).newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(address)
    await page.getByText('At least 20 characters').waitFor()
    expect(page.url()).not.toContain('token')
    const save = async (password: string) => {
      await page.getByLabel('New password').fill(password)
      await page.getByRole('button').click()
    }
    await save('too short for that')
    await page.getByRole('status').filter({ hasText: 'too_short' }).waitFor()
    proxy.isDown = true
    await save(`${goodPassword} and more`)
    await page.getByText('No answer. Try again.').waitFor()
    proxy.isDown = false
    await save(`${goodPassword} and more`)
    await page.getByText('Your password is set.').waitFor()
    expect(errors).toEqual([])
  })

  it('runs no script but its own, and calls no other origin', async () => {
    const { page: address } = await hostWithPage()
    const page = await (await arrive()).newPage()
    await page.goto(address)
    await page.getByText('At least 20 characters').waitFor()
    const whatWasDone = `(async () => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.ranOther = true'
      document.head.append(script)
      const called = await fetch('data:text/plain,other').then(() => true, () => false)
      return { ranOther: 'ranOther' in globalThis, called }
    })()`
    expect(await page.evaluate(whatWasDone)).toEqual({ ranOther: false, called: false })
    await page.evaluate("document.querySelector('form').submit()")
    expect(page.url()).toBe(address.replace(/#.*/, ''))
  })
})
