import assert from 'node:assert/strict'

/** A request that a page or a redirect makes a browser send. */
export interface Navigation {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Of a form. */
  readonly fields: Readonly<Record<string, string>>
}

/** Keeps cookies, follows redirects and fills in forms: a person at a provider, without a window. */
export interface PaperBrowser {
  /**
   * Signs in and agrees, or cancels. What the browser would send next, to an address that begins with
   * one of the host's: it is not sent. Fails when the provider's pages lead nowhere.
   */
  signIn(authorizationUrl: string, subject: string, stopAt: string): Promise<Navigation>
  cancel(authorizationUrl: string, stopAt: string): Promise<Navigation>
}

interface Page {
  readonly url: string
  readonly html: string
}

export function paperBrowser(): PaperBrowser {
  const jar = new Map<string, string>()

  async function send({ method, url, fields }: Navigation): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(method === 'POST' ? { body: new URLSearchParams(fields) } : {}),
    })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      const [name = ''] = pair.split('=')
      const value = pair.slice(name.length + 1)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /** Until there is a page to read, or the next request would be the host's. */
  async function follow(to: Navigation, stopAt: string): Promise<Page | Navigation> {
    let next = to
    for (let hops = 0; hops < 10; hops += 1) {
      if (next.url.startsWith(stopAt)) return next
      const response = await send(next)
      const location = response.headers.get('location')
      const html = await response.text()
      if (location === null) {
        assert.equal(response.status, 200, html)
        return { url: next.url, html }
      }
      next = get(new URL(location, next.url).href)
    }
    return assert.fail(`${to.url} leads round in circles`)
  }

  async function through(
    start: string,
    stopAt: string,
    step: (page: Page) => Navigation,
  ): Promise<Navigation> {
    let at = await follow(get(start), stopAt)
    for (let pages = 0; pages < 5; pages += 1) {
      if ('method' in at) return at
      at = await follow(step(at), stopAt)
    }
    return assert.fail(`${start} does not come to an end`)
  }

  return {
    signIn: (url, subject, stopAt) =>
      through(url, stopAt, (page) => formOf(page, { login: subject, password: 'any' })),
    cancel: (url, stopAt) =>
      through(url, stopAt, (page) => {
        const href = /<a href="([^"]*\/abort)"/.exec(page.html)?.[1]
        return href === undefined ? formOf(page, {}) : get(new URL(href, page.url).href)
      }),
  }
}

function get(url: string): Navigation {
  return { method: 'GET', url, fields: {} }
}

function formOf({ url, html }: Page, answers: Readonly<Record<string, string>>): Navigation {
  const action = /<form[^>]* action="([^"]*)"/.exec(html)?.[1]
  assert.ok(action !== undefined, `no form: ${html}`)
  const fields: Record<string, string> = {}
  for (const [input] of html.matchAll(/<input [^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1] ?? ''
    const value = plain(/value="([^"]*)"/.exec(input)?.[1] ?? '')
    fields[name] = answers[name] ?? value
  }
  return { method: 'POST', url: new URL(plain(action), url).href, fields }
}

const plain = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
