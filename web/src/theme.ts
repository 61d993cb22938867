// Light, dark, or as the machine is set.

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'dossier.theme';

export function theme(): Theme {
  try {
    const said = localStorage.getItem(key) as Theme;
    return themes.includes(said) ? said : 'auto';
  } catch {
    return 'auto';
  }
}

export function chooseTheme(to: Theme) {
  try {
    localStorage.setItem(key, to);
  } catch {
    // for this time
  }
  show(to);
}

export function show(to: Theme = theme()) {
  if (to === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = to;
}
