// A host that uses the configuration rules alone: no dependency of the package is installed.
import { randomBytes } from 'node:crypto'
import {
  ConfigValidationError,
  defineModule,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  type ModuleValues,
  mintSlug,
  planPatch,
  readModule,
  secretTest,
} from 'postern/config'
import { openValues, sealValues, secretBox } from 'postern/config/secrets'

export const mail = defineModule({
  name: 'mail',
  environments: ['production', 'sandbox'],
  fields: [
    { key: 'retries', label: 'Retries', type: FieldInt, group: 'Mail', default: '3', max: 10 },
    { key: 'mode', label: 'Mode', type: FieldSelect, group: 'Mail', options: ['smtp', 'api'] },
    {
      key: 'hooks',
      label: 'Hooks',
      type: FieldRecordList,
      group: 'Mail',
      items: [
        { key: 'url', label: 'URL', type: FieldString, required: true },
        { key: 'token', label: 'Token', type: FieldSecret },
      ],
    },
  ],
  validatePatch: ({ settings }) =>
    settings.retries > 5 && settings.mode === 'smtp'
      ? new ConfigValidationError('retries', 'SMTP wants at most 5.', 'mail.too_many_retries')
      : null,
})
export type MailSettings = ModuleValues<typeof mail>

const slug = mintSlug('Gmail EU')
const plan = planPatch(
  { revision: 1, values: {} },
  {
    config: { [`hooks.${slug}.url`]: 'https://example.com', [`hooks.${slug}.token`]: 'opaque' },
    recordLists: [{ field: 'hooks', create: [slug], remove: [] }],
  },
  mail.fields,
)
if (plan.kind === 'refused') throw new Error(plan.refusal.message)

const box = secretBox([{ id: 'k1', key: randomBytes(32).toString('base64') }], {
  bytes: (length) => randomBytes(length),
})
const place = { module: mail.name, environment: 'production' }
const isSecret = secretTest(mail.fields)
const stored = sealValues(plan, isSecret, box, place)
const settings: MailSettings = readModule(openValues(stored, isSecret, box, place).values, mail)
const [hook] = settings.hooks
const mode: 'smtp' | 'api' | null = settings.mode
console.log(
  JSON.stringify({
    retries: settings.retries,
    mode,
    slug: hook?.slug,
    opened: hook?.token === 'opaque',
    sealed: stored[`hooks.${slug}.token`]?.startsWith('enc:v1:k1:'),
  }),
)
