import { element } from '../element.ts'
import { form } from '../form.ts'
import type { Page, PageContext } from '../page.ts'
import { codeText } from '../problem-text.ts'
import { section } from '../section.ts'
import { timeText } from '../time-text.ts'
import { ownerProof } from './owner-proof.ts'

interface Proof {
  readonly currentPassword?: string
}

/** How a surface links and unlinks: operators by the library's routes, users by this host's. */
export interface Linking<C extends PageContext> {
  readonly link: (
    context: C,
    given: Proof & { readonly provider: string; readonly redirectUri: string },
  ) => Promise<{ readonly authorizationUrl: string }>
  readonly unlink: (context: C, given: Proof & { readonly provider: string }) => Promise<unknown>
}

/** The accounts of identity providers that sign the user in. */
export const linkedProvidersPage = <C extends PageContext>(linking: Linking<C>): Page<C> => ({
  path: '/providers',
  title: 'Linked providers',
  audience: 'user',
  async render(main, context) {
    const { client } = context
    const [{ identities }, { providers }] = await Promise.all([
      client.call('GET /me'),
      client.call('GET /oauth/providers'),
    ])
    const error = context.query.get('error')
    if (error !== null) main.append(refusal(error))
    const linkedAt = new Map(identities.map((one) => [one.provider, one.linkedAt]))
    const names = new Map(providers.map(({ id, name }) => [id, name]))
    const ids = [...new Set([...names.keys(), ...linkedAt.keys()])]
    if (ids.length === 0) main.append(element('p', {}, 'No provider is switched on.'))
    for (const id of ids) {
      const since = linkedAt.get(id) ?? null
      main.append(provider(context, linking, { id, name: names.get(id) ?? id, since }))
    }
  },
})

/** Why the browser came back from the provider without a link. */
function refusal(error: string): HTMLElement {
  const text = codeText(error) ?? 'The provider could not be linked.'
  return element('p', { class: 'notice problem', role: 'alert' }, text)
}

interface Provider {
  readonly id: string
  readonly name: string
  /** When it was linked; null where it is not. */
  readonly since: string | null
}

function provider<C extends PageContext>(
  context: C,
  linking: Linking<C>,
  { id, name, since }: Provider,
): HTMLElement {
  const { client, announce, reload } = context
  return section(name, async (body) => {
    const proof = await ownerProof(client)
    const act = since === null ? link : unlink
    body.append(
      element('p', {}, since === null ? 'Not linked.' : `Linked since ${timeText(since)}.`),
      form({
        fields: proof.fields,
        submit: since === null ? `Link ${name}` : `Unlink ${name}`,
        fieldOf: { invalid_credentials: 'currentPassword' },
        onSubmit: () => act(proof.input()),
      }),
    )
  })

  async function link(proof: Proof): Promise<void> {
    const redirectUri = `${location.origin}/providers`
    const given = { provider: id, redirectUri, ...proof }
    location.assign((await linking.link(context, given)).authorizationUrl)
  }

  async function unlink(proof: Proof): Promise<void> {
    await linking.unlink(context, { provider: id, ...proof })
    announce(`${name} is unlinked.`)
    reload()
  }
}
