/** An entry of a list: what is sent, and what people read. */
export interface Chip {
  readonly value: string
  readonly name: string
}

/** A role attribute as a chip. */
export function attributeChip(attribute: string): Chip {
  return { value: attribute, name: `#${attribute}` }
}
