import type { BrowserContext, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { type ConsoleHost, consoleHost } from '../../../examples/console/host/console-host.js'
import type { AuthOptions } from '../../../src/options.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.js'
import { visitors } from '../../support/hosts/browser.js'
import { accessFlaws, failOnErrors } from '../../support/hosts/page-flaws.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testConfigKeys, testSigningKey } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { type RecordingMailer, recordingMailer } from '../../support/outside/recording-mailer.js'

export const password = 'correct horse battery staple'

const widths = { wide: { width: 1200, height: 850 }, narrow: { width: 390, height: 844 } }

/** The console's host in this process, on a memory store. */
export interface ConsoleRig {
  readonly host: ConsoleHost
  readonly mailer: RecordingMailer
  /** Starts now, as the browser's does. */
  readonly clock: FakeClock
  /** An account with a proved address, with `password`; its id. */
  account(surface: Surface, email: string, systemRole?: string): Promise<string>
  /** Opens a page, in a browser profile of its own unless another page's is given. */
  open(surface: Surface, path: string, more?: OpenOptions): Promise<Page>
}

export interface OpenOptions {
  readonly width?: keyof typeof widths
  readonly visitor?: BrowserContext
}

/** To be called once, at the top of a test file; it starts a host for each test that asks for one. */
export function consoleRigs(): (options?: Partial<AuthOptions>) => Promise<ConsoleRig> {
  const { arrive } = visitors()
  return async ({ settings, ...options } = {}) => {
    const mailer = recordingMailer()
    const clock = fakeClock(Date.now())
    const host = await consoleHost({
      port: 0,
      backend: memory(),
      keys: { current: await testSigningKey() },
      configKeys: testConfigKeys,
      mailer,
      clock,
      env: {},
      hash: cheapHash,
      sweep: false,
      logger: recordingLogger(),
      surface: { rateLimits: withoutLimits.surfaces.client.rateLimits },
      ...options,
      settings: { ...withoutLimits.settings, ...settings },
    })
    onTestFinished(() => host.close())
    return {
      host,
      mailer,
      clock,
      async account(surface, email, systemRole) {
        const input = { email, password, emailVerified: true, name: 'Ada Lovelace' }
        const role = systemRole === undefined ? {} : { systemRole }
        return (await host.auth[surface].users.create({ ...input, ...role })).id
      },
      async open(surface, path, { width = 'wide', visitor } = {}) {
        const page = await (visitor ?? (await arrive())).newPage()
        // So that it is told what was waited for, before the test's own time is over.
        page.setDefaultTimeout(60_000)
        await page.setViewportSize(widths[width])
        failOnErrors(page, [host.clientUrl, host.operatorUrl])
        await page.goto((surface === 'client' ? host.clientUrl : host.operatorUrl) + path)
        return page
      },
    }
  }
}

/** Nothing that keeps people with disabilities out, as far as axe can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessFlaws(page)).toEqual([])
}

/** Keeps a picture of the page, where `npm run generate -- screenshots` asks for pictures: below the folder that it names. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
}

/** Waits until the page of this heading is shown. */
export async function seeHeading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { name, exact: true }).waitFor()
}

/** Where the newest mail of this template leads. */
export function mailedUrl(
  { mailer }: ConsoleRig,
  template: 'verifyEmail' | 'changeEmail' | 'resetPassword',
  to: string,
): URL {
  return new URL(mailer.last(template, to).data.url)
}

/** Waits until the first page of the surface is shown, to which a sign-in leads. */
export function seeHome(page: Page, surface: Surface): Promise<void> {
  return seeHeading(page, surface === 'operator' ? 'Users' : 'Your account')
}

/** Signs in at the form that the page shows, with a password alone. */
export async function signIn(page: Page, email: string, by = password): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(by)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Signs out by the button of the header. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await seeHeading(page, 'Sign in')
}
