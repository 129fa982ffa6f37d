import { createServer } from 'node:http'
import express, { type Request, type Response } from 'express'
import { listen } from '../../hosts/running-host.js'
import type { Account } from '../provider-stub/account.js'
import { registered } from '../provider-stub/credentials.js'
import { authorizationCodes } from './authorization-codes.js'
import { addSignInPages } from './sign-in-pages.js'
import type { StandIn, StandInOptions } from './stand-in.js'
import { sendToken, type TokenReply, tokenReplies } from './token-replies.js'

export interface GithubStandIn extends StandIn {
  /** Whether it refuses to tell of people, though it gave a token. */
  refuseToTell(refuses: boolean): void
}

/**
 * GitHub's sign-in: no ID token, errors with the status of a success, accounts by number, and the
 * confirmed addresses apart from the profile.
 */
export async function githubStandIn({
  redirectUris,
  accounts,
}: StandInOptions): Promise<GithubStandIn> {
  const { clientId, clientSecret } = registered.github
  const codes = authorizationCodes()
  const replies = tokenReplies({ keys: null, clientId, clientSecret })
  const tokenRequests: URLSearchParams[] = []
  let refuses = false
  const app = express()
  const running = await listen(createServer(app))
  const { url } = running

  addSignInPages(app, {
    authorizePath: '/login/oauth/authorize',
    clientId,
    redirectUris,
    accounts,
    wrongWith: (query) =>
      query.get('scope')?.split(' ').includes('user:email') ? '' : 'scope is missing',
    cancelled: (response, { redirectUri, state }) =>
      response.redirect(`${redirectUri}?${new URLSearchParams({ error: 'access_denied', state })}`),
    agreed(response, grant) {
      const { redirectUri, state } = grant
      const members = new URLSearchParams({ code: codes.issue(grant), state })
      response.redirect(`${redirectUri}?${members}`)
    },
  })

  function reply(form: URLSearchParams): TokenReply {
    const error = (name: string): TokenReply => ({ status: 200, body: { error: name } })
    const isClient =
      form.get('client_id') === clientId && form.get('client_secret') === clientSecret
    if (!isClient) return error('incorrect_client_credentials')
    // GitHub does not ask for a grant type, so its absence is no mistake there.
    if (!form.has('grant_type')) form.set('grant_type', 'authorization_code')
    const redeemed = codes.redeem(form)
    if (redeemed === null) return error('bad_verification_code')
    const { accessToken } = redeemed
    const body = { access_token: accessToken, token_type: 'bearer', scope: 'user:email' }
    return { status: 200, body }
  }

  app.post('/login/oauth/access_token', async (request, response) => {
    const form = new URLSearchParams(request.body)
    tokenRequests.push(form)
    const wire = await replies.prepare(reply(form))
    // A form, unless asked for JSON by name.
    if (wire?.type === 'json' && request.get('accept') !== 'application/json') {
      response.type('application/x-www-form-urlencoded')
      response.send(new URLSearchParams(JSON.parse(wire.text)).toString())
      return
    }
    sendToken(response, wire)
  })

  const tells =
    (answer: (account: Account) => unknown) => (request: Request, response: Response) => {
      const token = /^(?:Bearer|token) (.+)$/.exec(request.get('authorization') ?? '')?.[1] ?? ''
      const account = codes.holderOf(token)
      if (!request.get('user-agent')) response.status(403).send('Request forbidden')
      else if (account === null) response.status(401).json({ message: 'Bad credentials' })
      else if (refuses) response.status(500).json({ message: 'Server Error', ...account })
      else response.json(answer(account))
    }
  app.get(
    '/user',
    // The profile's address is what its owner likes to show, confirmed or not.
    tells(({ subject, email = null, name = null }) => ({
      id: Number(subject),
      login: 'ada',
      email,
      name,
    })),
  )
  app.get(
    '/user/emails',
    tells(({ email, verified = true }) => [
      { email: 'ada@users.noreply.github.example', primary: false, verified: true },
      ...(email === undefined ? [] : [{ email, primary: true, verified, visibility: 'public' }]),
    ]),
  )

  return {
    id: 'github',
    url,
    endpoints: {
      issuer: `${url}/login/oauth`,
      authorization: `${url}/login/oauth/authorize`,
      token: `${url}/login/oauth/access_token`,
      user: `${url}/user`,
      emails: `${url}/user/emails`,
    },
    misbehave: replies.misbehave,
    tokenRequests,
    secrets: () => [...codes.issued, ...replies.given],
    refuseToTell(whether) {
      refuses = whether
    },
    close: running.close,
  }
}
