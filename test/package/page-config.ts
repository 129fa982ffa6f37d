// A page that edits a module: the rules of the configuration store in a browser.
import {
  ConfigValidationError,
  checkValues,
  DeclarationError,
  defineModule,
  diffRevisions,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldString,
  mintSlug,
  planPatch,
  publicValues,
  readModule,
} from 'postern/config'

const mail = defineModule({
  name: 'mail',
  environments: ['production'],
  fields: [
    { key: 'sender', label: 'Sender', type: FieldString, group: 'Mail' },
    { key: 'retries', label: 'Retries', type: FieldInt, group: 'Mail', max: 10 },
    { key: 'timeout', label: 'Timeout', type: FieldDuration, group: 'Mail', default: '30s' },
    { key: 'password', label: 'Password', type: FieldSecret, group: 'Mail' },
    {
      key: 'hooks',
      label: 'Hooks',
      type: FieldRecordList,
      group: 'Mail',
      items: [{ key: 'url', label: 'URL', type: FieldString, required: true }],
    },
  ],
})

/** What the page works out; a test compares it with what Node works out. */
export function shownByPage(): unknown {
  const before = { sender: 'a@example.com', password: 'enc:v1:k:AAAA:BBBB' }
  const slug = mintSlug('Grüße an 東京')
  const patch = {
    config: {
      sender: 'b@example.com',
      retries: '11',
      [`hooks.${slug}.url`]: 'https://example.com',
    },
    recordLists: [{ field: 'hooks', create: [slug], remove: [] }],
  }
  const plan = planPatch({ revision: 1, values: before }, patch, mail.fields)
  if (plan.kind === 'refused') return plan.refusal
  const refused = checkValues({ module: 'mail', declarations: mail.fields, before, ...plan })
  return {
    slug,
    values: plan.values,
    refused: refused instanceof ConfigValidationError && [refused.field, refused.code],
    settings: readModule(plan.values, mail),
    difference: diffRevisions(before, plan.values, mail.fields),
    shown: publicValues(plan.values, mail.fields),
    misdeclared: misdeclared(),
  }
}

function misdeclared(): unknown {
  try {
    return defineModule({ name: 'Mail', environments: [], fields: [] })
  } catch (error) {
    return error instanceof DeclarationError && error.problems
  }
}

Reflect.set(globalThis, 'shownByPage', shownByPage)
