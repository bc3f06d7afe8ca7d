/** A JSON value as YAML; texts and keys stay quoted, so that none is taken for something else. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((element) => `\n${indent}-${nested(element, indent)}`).join('')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    if (members.length > 0) {
      return members.map(([name, member]) => `\n${indent}${JSON.stringify(name)}:${nested(member, indent)}`).join('')
    }
  }
  return ` ${JSON.stringify(value)}`
}

function nested(value: unknown, indent: string): string {
  return toYaml(value, `${indent}  `)
}
