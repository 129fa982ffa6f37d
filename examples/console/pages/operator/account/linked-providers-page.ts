import { ownerProof } from '../../shared/account/owner-proof.ts'
import { element } from '../../shared/element.ts'
import { form } from '../../shared/form.ts'
import { codeText } from '../../shared/problem-text.ts'
import { section } from '../../shared/section.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'

/** The accounts of identity providers that sign the operator in. */
export const linkedProvidersPage: OperatorPage = {
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
      main.append(provider(context, { id, name: names.get(id) ?? id, since }))
    }
  },
}

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

function provider(context: OperatorContext, { id, name, since }: Provider): HTMLElement {
  const { operator, client, announce, reload } = context
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

  async function link(input: { readonly currentPassword?: string }): Promise<void> {
    const redirectUri = `${location.origin}/providers`
    const { authorizationUrl } = await operator.call('POST /oauth/{provider}/link', {
      provider: id,
      redirectUri,
      ...input,
    })
    location.assign(authorizationUrl)
  }

  async function unlink(input: { readonly currentPassword?: string }): Promise<void> {
    await operator.call('DELETE /oauth/{provider}/link', { provider: id, ...input })
    announce(`${name} is unlinked.`)
    reload()
  }
}
