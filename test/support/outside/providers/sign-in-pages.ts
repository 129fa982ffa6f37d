import { randomUUID } from 'node:crypto'
import express, { type Express, type Response } from 'express'
import type { Account } from '../provider-stub/account.js'
import type { Grant } from './authorization-codes.js'

type Request = Omit<Grant, 'account'>

interface Pages {
  readonly authorizePath: string
  readonly clientId: string
  readonly redirectUris: readonly string[]
  readonly accounts: readonly Account[]
  /** What this provider asks of a request besides; an empty text when nothing is missing. */
  readonly wrongWith: (query: URLSearchParams) => string
  readonly agreed: (response: Response, grant: Grant) => void
  readonly cancelled: (response: Response, request: Request) => void
}

/**
 * Signing in and agreeing, for the providers that no package plays: the same steps and fields as the
 * pages of `oidc-provider`. A request that is not quite right gets no further (RFC 6749 §4.1.1).
 */
export function addSignInPages(app: Express, pages: Pages): void {
  const { authorizePath, accounts } = pages
  const requests = new Map<string, Request>()
  const signedIn = new Map<string, Account>()
  app.use(express.urlencoded({ extended: false }))

  app.get(authorizePath, (request, response) => {
    const query = new URL(request.originalUrl, 'http://localhost').searchParams
    const problem = problemOf(query, pages)
    if (problem !== '') {
      response.status(400).send(problem)
      return
    }
    const id = randomUUID()
    requests.set(id, {
      redirectUri: query.get('redirect_uri') ?? '',
      challenge: query.get('code_challenge') ?? '',
      state: query.get('state') ?? '',
      nonce: query.get('nonce') ?? '',
    })
    const fields = '<input name="login"><input type="password" name="password">'
    response.send(page(form(`/interaction/${id}/login`, fields, 'Sign in'), id))
  })

  app.post('/interaction/:id/login', (request, response) => {
    const { id } = request.params
    const account = accounts.find(({ subject }) => subject === request.body.login)
    if (!requests.has(id) || account === undefined) {
      response.status(400).send('Nobody has this name here.')
      return
    }
    signedIn.set(id, account)
    response.send(page(form(`/interaction/${id}/consent`, '', 'Continue'), id))
  })

  app.post('/interaction/:id/consent', (request, response) => {
    const asked = requests.get(request.params.id)
    const account = signedIn.get(request.params.id)
    requests.delete(request.params.id)
    if (asked === undefined || account === undefined) response.status(400).send('Begin again.')
    else pages.agreed(response, { ...asked, account })
  })

  app.get('/interaction/:id/abort', (request, response) => {
    const asked = requests.get(request.params.id)
    requests.delete(request.params.id)
    if (asked === undefined) response.status(400).send('Begin again.')
    else pages.cancelled(response, asked)
  })
}

function problemOf(query: URLSearchParams, pages: Pages): string {
  const get = (name: string) => query.get(name) ?? ''
  const isTwice = [...query.keys()].some((name) => query.getAll(name).length > 1)
  const rules: readonly (readonly [boolean, string])[] = [
    [!isTwice, 'a parameter is there twice'],
    [get('client_id') === pages.clientId, 'unknown client_id'],
    [pages.redirectUris.includes(get('redirect_uri')), 'redirect_uri_mismatch'],
    [get('response_type') === 'code', 'unsupported_response_type'],
    [get('state') !== '', 'state is missing'],
    [get('code_challenge_method') === 'S256', 'code_challenge_method has to be S256'],
    [/^[\w-]{43}$/.test(get('code_challenge')), 'code_challenge is missing'],
  ]
  return rules.find(([isGood]) => !isGood)?.[1] ?? pages.wrongWith(query)
}

function form(action: string, fields: string, label: string): string {
  return `<form method="post" action="${action}">${fields}<button type="submit">${label}</button></form>`
}

function page(body: string, id: string): string {
  return `<!doctype html><title>Sign in</title>${body}<a href="/interaction/${id}/abort">Cancel</a>`
}
