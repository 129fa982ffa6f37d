import type { Fetcher } from 'postern'

/** What a host needs to know to send people there. */
export const githubSettings = {
  githubClientEnabled: true,
  githubClientId: 'Iv1.0123456789abcdef',
  githubClientSecret: 'a secret between the two',
  oauthRedirectTargets: [
    { slug: 'web', uri: 'https://app.example.com/in', surface: 'client', flow: 'web' },
    {
      slug: 'app',
      uri: 'org.example:/in',
      surface: 'client',
      flow: 'mobile',
      appId: 'org.example',
    },
  ],
} as const

/**
 * GitHub, as far as several processes can share it without a word: the code is the number of the
 * account, and the token as well. Whatever is asked for twice is given twice.
 */
export const githubStandIn: Fetcher = {
  async fetch({ url, headers, body }) {
    const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) })
    if (url.endsWith('/access_token')) {
      const code = new URLSearchParams(body).get('code')
      return json({ access_token: code, token_type: 'bearer', scope: 'user:email' })
    }
    const [, id = ''] = (headers['authorization'] ?? '').split(' ')
    if (url.endsWith('/emails')) {
      return json([{ email: `github-${id}@example.org`, primary: true, verified: true }])
    }
    return json({ id: Number(id), login: `github-${id}`, name: null })
  },
}
