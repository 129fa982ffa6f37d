import { defineModule } from '../../src/config/define-module.js'
import type { EnvironmentOp, EnvironmentState } from '../reliability/environment-model.js'

/** What the staff of the host configures: a text, a secret and a list. */
export const shop = defineModule({
  name: 'shop',
  environments: ['production'],
  fields: [
    { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Shop' },
    { key: 'apiKey', label: 'API key', type: 'FieldString', group: 'Shop', secret: true },
    {
      key: 'hooks',
      label: 'Hooks',
      type: 'FieldRecordList',
      group: 'Shop',
      items: [{ key: 'url', label: 'URL', type: 'FieldString' }],
    },
  ],
})

/** The same slugs are asked for again and again, so that editors meet. */
const slugs = ['north', 'south', 'east'] as const

/** One of the edits that there are, by `pick` and the number of the request; every third states the revision that the editor saw last. */
export function editOf(pick: number, request: string, revision: number): EnvironmentOp {
  const at = pick + Number(request.slice(-6))
  const kind = at % 7
  const stated = at % 3 === 1 ? { revision } : {}
  const slug = slugs[Math.floor(at / 7) % slugs.length] ?? slugs[0]
  if (kind < 3) return { kind: 'set', text: `text of ${request}`, ...stated }
  if (kind === 3) return { kind: 'seal', text: `key of ${request}`, ...stated }
  return kind < 6 ? { kind: 'add', slug, ...stated } : { kind: 'remove', slug, revision }
}

/** The edit as the library takes it. */
export function changeOf(op: Exclude<EnvironmentOp, { readonly kind: 'read' }>) {
  const environment = 'production'
  const stated = op.revision === undefined ? {} : { revision: op.revision }
  if (op.kind === 'set') return { environment, config: { sender: op.text }, ...stated }
  if (op.kind === 'seal') return { environment, config: { apiKey: op.text }, ...stated }
  const [create, remove] = op.kind === 'add' ? [[op.slug], []] : [[], [op.slug]]
  return { environment, recordLists: [{ field: 'hooks', create, remove }], ...stated }
}

/** What an administrator's view shows. */
export function stateIn(body: string): EnvironmentState {
  const { revision, config, recordLists } = JSON.parse(body)
  const roster = recordLists[0].elements.map(({ slug }: { readonly slug: string }) => slug)
  return { revision, text: config.sender ?? '', roster }
}
