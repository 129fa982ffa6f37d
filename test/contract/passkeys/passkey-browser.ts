import assert from 'node:assert/strict'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/** The part of `@simplewebauthn/browser` that pages call, as its bundle puts it there. */
interface BrowserApi {
  startRegistration(given: { optionsJSON: unknown }): Promise<unknown>
  startAuthentication(given: { optionsJSON: unknown }): Promise<unknown>
}
declare const SimpleWebAuthnBrowser: BrowserApi

/** A credential as the browser's authenticator keeps it. */
export interface KeptCredential {
  readonly credentialId: string
  readonly isResidentCredential: boolean
  readonly rpId?: string
  readonly privateKey: string
  readonly userHandle?: string
  readonly signCount: number
}

/** A page in a browser whose authenticator asks for no finger. */
export interface PasskeyPage {
  /** Runs `navigator.credentials.create` with these options of a server; its response. */
  create(options: unknown): Promise<unknown>
  /** Runs `navigator.credentials.get`. */
  get(options: unknown): Promise<unknown>
  /** Posts from the page, so that cookies go along; status and body. */
  post(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }>
  /** Whether the person shows finger, face or PIN from now on. */
  verifies(isVerified: boolean): Promise<void>
  kept(): Promise<readonly KeptCredential[]>
  keep(credential: KeptCredential): Promise<void>
}

const bundle = new URL(
  '../../../node_modules/@simplewebauthn/browser/dist/bundle/index.umd.min.js',
  import.meta.url,
).pathname

/** Opens a page of `url`, in a browser with a virtual authenticator (WebAuthn §11). */
export async function passkeyPage(visitor: BrowserContext, url: string): Promise<PasskeyPage> {
  const page = await visitor.newPage()
  await page.goto(url)
  await page.addScriptTag({ path: bundle })
  const devtools = await visitor.newCDPSession(page)
  const authenticatorId = await virtualAuthenticator(devtools)
  return {
    create: (options) =>
      page.evaluate(
        (optionsJSON) => SimpleWebAuthnBrowser.startRegistration({ optionsJSON }),
        options,
      ),
    get: (options) =>
      page.evaluate(
        (optionsJSON) => SimpleWebAuthnBrowser.startAuthentication({ optionsJSON }),
        options,
      ),
    post: (path, body) => posted(page, path, body),
    async verifies(isUserVerified) {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
    async kept() {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
      return credentials
    },
    async keep({ credentialId, isResidentCredential, rpId, privateKey, userHandle, signCount }) {
      assert.ok(rpId !== undefined && userHandle !== undefined, 'the credential is complete')
      await devtools.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: {
          ...{ credentialId, isResidentCredential, rpId, privateKey, userHandle, signCount },
        },
      })
    },
  }
}

async function virtualAuthenticator(devtools: CDPSession): Promise<string> {
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

function posted(page: Page, path: string, body: object) {
  return page.evaluate(
    async ([to, json]) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(to, { method: 'POST', headers, body: json })
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
    },
    [path, JSON.stringify(body)] as const,
  )
}
