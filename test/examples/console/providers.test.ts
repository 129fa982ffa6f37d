import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { registered } from '../../support/outside/provider-stub/credentials.js'
import { githubStandIn } from '../../support/outside/providers/github.js'
import { addApp, codeField } from './authenticator-app.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  password,
  seeHeading,
  seeHome,
  signIn,
  signOut,
} from './console-rig.js'
import { agree as confirm, proveByApp, seatedAdmin } from './operator-steps.js'

const start = consoleRigs()
const email = 'ada@example.org'
const subject = '4711'

/** A console whose surfaces let people in with GitHub, which stands on this machine. */
async function withGithub(): Promise<ConsoleRig & { readonly issuer: string }> {
  const redirectUris: string[] = []
  const accounts = [{ subject, email: 'ada@github.example', verified: true, name: 'Ada' }]
  const github = await githubStandIn({ redirectUris, accounts })
  onTestFinished(() => github.close())
  const { clientId, clientSecret } = registered.github
  const rig = await start({
    oauth: { allowInsecureLoopback: true, providers: { github: { endpoints: github.endpoints } } },
    settings: {
      githubOperatorEnabled: true,
      githubClientEnabled: true,
      githubClientId: clientId,
      githubClientSecret: clientSecret,
    },
  })
  redirectUris.push(`${rig.host.operatorUrl}/v1/auth/operator/oauth/github/callback`)
  redirectUris.push(`${rig.host.clientUrl}/v1/auth/client/oauth/github/callback`)
  return { ...rig, issuer: String(github.endpoints.issuer) }
}

/** Signs in at the provider, and agrees there. */
async function agree(page: Page): Promise<void> {
  await page.locator('[name=login]').fill(subject)
  await page.locator('[name=password]').fill('any')
  await page.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

describe.skipIf(isChromiumMissing)('providers at the console, in chromium', () => {
  it('an operator links one, signs in with it and a second factor, and unlinks it', async () => {
    const rig = await withGithub()
    await rig.account('operator', email)
    const page = await rig.open('operator', '/')
    await signIn(page, email)
    await page.getByRole('link', { name: 'Linked providers' }).click()
    await page.getByLabel('Your password').fill(password)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Link GitHub' }).click()
    await agree(page)
    await seeHeading(page, 'Linked providers')
    await page.getByText('Linked since').waitFor()
    const app = await addApp(rig, page)
    await signOut(page)
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await agree(page)
    await seeHeading(page, 'Your second factor')
    expect(page.url()).toBe(`${rig.host.operatorUrl}/signed-in`)
    await expectAccessible(page)
    await codeField(page).fill(await app.nextCode())
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
    await seeHome(page, 'operator')
    await page.getByRole('link', { name: 'Linked providers' }).click()
    await page.goto(`${rig.host.operatorUrl}/providers?error=identity_already_linked`)
    await page.getByText('This account of the provider is linked already.').waitFor()
    await page.getByRole('button', { name: 'Unlink GitHub' }).click()
    await page.getByText('GitHub is unlinked.').waitFor()
    await page.getByText('Not linked.').waitFor()
  })

  it('a user with a password links one after a dead end, and ends a session elsewhere', async () => {
    const rig = await withGithub()
    await rig.account('client', 'ada@github.example')
    const phone = await rig.open('client', '/')
    await signIn(phone, 'ada@github.example')
    const page = await rig.open('client', '/')
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await agree(page)
    await page.getByText('Sign in with it, then link the provider.').waitFor()
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await signIn(page, 'ada@github.example')
    await page.getByRole('link', { name: 'Linked providers' }).click()
    await page.getByLabel('Your password').fill('wrong one altogether')
    await page.getByRole('button', { name: 'Link GitHub' }).click()
    await page.getByText('The password is not right.', { exact: true }).waitFor()
    await page.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Link GitHub' }).click()
    await agree(page)
    await page.getByText('Linked since').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('button', { name: /^End the session of/ }).click()
    await page.getByText('The session is ended.').waitFor()
    await expectAccessible(page)
    await phone.reload()
    await phone.getByLabel('E-mail address').waitFor()
    await signOut(page)
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await agree(page)
    await page.getByText('Your address is ada@github.example.').waitFor()
  })

  it('a user without an account gets one, and a refusal at the provider is told', async () => {
    const rig = await withGithub()
    const page = await rig.open('client', '/')
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await agree(page)
    await page.getByText('Your address is ada@github.example.').waitFor()
    await expectAccessible(page)
    await signOut(page)
    await page.goto(`${rig.host.clientUrl}/signed-in?error=oauth_denied`)
    await page.getByText('The provider did not let you sign in.').waitFor()
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await page.getByLabel('E-mail address').waitFor()
  })

  it('an operator unlinks the provider of a user, whose account it then no longer opens', async () => {
    const rig = await withGithub()
    const theirs = 'linus@example.org'
    const identities = [{ provider: 'github', issuer: rig.issuer, subject }] as const
    const { users, identities: linked } = rig.host.auth.client
    // The last way to sign in cannot be unlinked.
    const passwordHash = `$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$${'A'.repeat(43)}`
    await users.import({
      users: [{ email: theirs, emailVerified: true, identities, passwordHash }],
    })
    const { id = '' } = (await users.findByEmail(theirs)) ?? {}
    const user = await rig.open('client', '/')
    const signInThere = () => user.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await signInThere()
    await agree(user)
    await user.getByText(`Your address is ${theirs}.`).waitFor()
    await signOut(user)

    const admin = await seatedAdmin(rig)
    const { page } = admin
    await page.goto(`${rig.host.operatorUrl}/users/client/${id}`)
    const press = () => page.getByRole('button', { name: 'Unlink github' }).click()
    await press()
    await expectAccessible(page)
    await confirm(page, 'Cancel')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await linked.list(id)).toHaveLength(1)
    await press()
    await confirm(page, 'Unlink')
    await proveByApp(admin)
    await page.getByRole('status').getByText('github is unlinked.').waitFor()
    await page.getByRole('heading', { name: 'Linked providers' }).waitFor({ state: 'detached' })
    expect(await linked.list(id)).toEqual([])

    await signInThere()
    await agree(user)
    await user.getByText('Your address is ada@github.example.').waitFor()
  })

  it('a link with the ticket of another person’s login by password leads to no account', async () => {
    const rig = await start({ settings: { mfaPolicyClient: 'required' } })
    await rig.account('client', 'mallory@example.org')
    const body = JSON.stringify({ email: 'mallory@example.org', password })
    const headers = { 'content-type': 'application/json' }
    const login = `${rig.host.clientUrl}/v1/auth/client/login`
    const reply = await fetch(login, { method: 'POST', headers, body })
    const { mfaToken, status } = (await reply.json()) as Record<string, string>
    expect(status).toBe('mfaEnrollmentRequired')
    const page = await rig.open('client', `/signed-in#status=${status}&ticket=${mfaToken}`)
    await page.getByText('The sign-in with the provider failed.').waitFor()
    expect(await page.getByRole('button', { name: 'Add an authenticator app' }).count()).toBe(0)
  })
})
