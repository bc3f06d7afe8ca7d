import { type Change, policyBody } from './change.ts'

/** A change as a command for a shell, with the token of a session in a variable. */
export function curlOf(change: Change, controller: string): string {
  if (change.kind === 'group')
    return commentOf(`Give #${change.roleAttribute} to each identity that has #${change.holders}.`)
  const path = change.action === 'create' ? change.kind : `${change.kind}/${encodeURIComponent(change.id)}`
  const method = { create: 'POST', update: 'PATCH', delete: 'DELETE' }[change.action]
  const words = [
    'curl',
    '-X',
    method,
    quoted(`${controller}/edge/management/v1/${path}`),
    '-H',
    '"zt-session: $ZT_SESSION"',
  ]
  if (change.action === 'delete') return words.join(' ')
  const body =
    change.kind === 'service-policies' ? policyBody(change.policy) : { roleAttributes: change.roleAttributes }
  return [...words, '-H', "'content-type: application/json'", '--data', quoted(JSON.stringify(body))].join(' ')
}

/** A text as one line that a shell passes over: a name with a line end would go on as a command. */
function commentOf(text: string): string {
  return `# ${text.replace(/[\r\n]+/g, ' ')}`
}

/** A text as one word of a shell, whatever its characters. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
