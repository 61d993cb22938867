declare const BUILD: string; // what the page was made of, for parts that are loaded later

/** whole is a part that was loaded. One of another build is refused: then the
 * server was renewed since the page was opened. */
export function whole<T>(part: T): T {
  if ((part as { build?: string }).build !== BUILD) throw new Error('a part of another build');
  return part;
}
