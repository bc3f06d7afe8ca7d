/** What the parameters of operations mean, by name; a name means the same wherever it occurs. */
const TEXTS: Readonly<Record<string, string>> = {
  asidentity: 'An identity, by id or name, in whose place services are shown; for admins.',
  authorization: 'A token of an external JWT signer, as `Bearer` and the token.',
  configtypes: 'Config types, by id or name, whose configs are shown; `all` for every type.',
  filter: 'A condition on the fields of the list, such as `name contains "web" sort by name limit 5`.',
  limit: 'How many items to answer at most, up to 500; 10 by default.',
  method: 'How to prove who one is.',
  'mfa-validation-code': 'A one-time password or a recovery code.',
  'last-event-id': 'The `id` of the event that was read last; a stream goes on after it.',
  offset: 'How many items to leave out from the beginning, up to 100,000.',
  policytype: 'Considers policies of one type only, `dial` or `bind`.',
  rolefilter: 'A role, `#attribute` or `@id`, that items have; may be repeated.',
  rolesemantic: 'Whether items have all of the roles (`AllOf`, the default) or any of them (`AnyOf`).',
  serviceid: 'The id of the service.',
  'session-token': 'The token of the session that routers are asked for.',
  sort: 'Fields to sort by, such as `name desc, createdAt`.',
  token: 'The one-time token of the enrollment.',
  withids: 'Whether to name the entities that have each attribute; `false` by default.',
  'ziti-token-issuer-id': 'The id of the external JWT signer that issued the token, where several could have.',
}

/** Describes a parameter of an operation; an id belongs to what the path names before it. */
export function parameterText(route: string, name: string): string | undefined {
  if (name !== 'id') return TEXTS[name.toLowerCase()]
  const [, collection] = /\/([\w-]+)\/\{id\}/.exec(route) ?? []
  return `The id of one of the ${(collection ?? 'entities').replaceAll('-', ' ')}.`
}
